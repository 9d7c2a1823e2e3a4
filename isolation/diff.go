// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Changes lead from one plan to the next.
//
// A Changes may be read by many goroutines while nobody changes it.
type Changes struct {
	// Revoke are the devices of the old plan that the new one lacks; take them away before anything is granted.
	Revoke []DeviceNode `json:"revoke,omitempty"`
	// Grant are the devices of the new plan that the old one lacks.
	Grant []DeviceNode `json:"grant,omitempty"`
	// Keep are in both.
	Keep []DeviceNode `json:"keep,omitempty"`
	// RemoveSpec is the file name of a document that must go; empty if none. Remove it before the new one is written.
	RemoveSpec string `json:"removeSpec,omitempty"`
	// WriteSpec is the file name of the document to write; empty if it has not changed.
	WriteSpec string `json:"writeSpec,omitempty"`
	// Fields are the changed fields of the lease, in the order of the type.
	Fields []FieldChange `json:"fields,omitempty"`
}

// FieldChange is a field of the lease that differs.
//
// A FieldChange is immutable and safe for concurrent use.
type FieldChange struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Empty reports whether nothing changes.
func (c Changes) Empty() bool {
	return len(c.Revoke)+len(c.Grant)+len(c.Fields) == 0 && c.RemoveSpec == "" && c.WriteSpec == ""
}

// Diff compares two plans (V2). The zero Plan is "nothing": Diff(Plan{}, p) sets p up, Diff(p, Plan{}) takes it down. Lists keep the order
// of the plans. Cost: O(d) for d devices.
func Diff(old, next Plan) Changes {
	var changes Changes
	before, after := map[DeviceNode]bool{}, map[DeviceNode]bool{}
	for _, device := range old.Devices {
		before[device] = true
	}
	for _, device := range next.Devices {
		after[device] = true
		if !before[device] {
			changes.Grant = append(changes.Grant, device)
		}
	}
	for _, device := range old.Devices {
		if after[device] {
			changes.Keep = append(changes.Keep, device)
		} else {
			changes.Revoke = append(changes.Revoke, device)
		}
	}
	if old.SpecFile != next.SpecFile {
		changes.RemoveSpec = old.SpecFile
	}
	if old.SpecFile != next.SpecFile || !reflect.DeepEqual(old.Spec, next.Spec) {
		changes.WriteSpec = next.SpecFile
	}
	changes.Fields = leaseChanges(old.Lease, next.Lease)
	return changes
}

func leaseChanges(old, next Lease) (changes []FieldChange) {
	fields := func(l Lease) [][2]string {
		return [][2]string{
			{"id", l.ID},
			{"epoch", fmt.Sprint(l.Epoch)},
			{"tenant", l.Tenant},
			{"node", string(l.Node)},
			{"gpus", fmt.Sprintf("%q", l.GPUs)},
			{"shares", sharesText(l.Shares)},
			{"start", timeText(l.Start)},
			{"end", timeText(l.End)},
			{"dedicatedNode", fmt.Sprint(l.DedicatedNode)},
			{"trusted", fmt.Sprint(l.Trusted)},
		}
	}
	nextFields := fields(next)
	for i, field := range fields(old) {
		if field != nextFields[i] {
			changes = append(changes, FieldChange{Field: field[0], Old: field[1], New: nextFields[i][1]})
		}
	}
	return slices.Clip(changes)
}

func sharesText(shares []Share) string {
	text := make([]string, len(shares))
	for i, share := range shares {
		text[i] = fmt.Sprintf("%s:%d", share.GPU, share.Milli)
	}
	return fmt.Sprintf("%q", text)
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
