// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/isolation/cdi"
)

// Verify compares what a host reports with a plan and lists every difference, in the order of [Code] and then of the plan or of the
// report; none means that the host is as planned (V1). It changes nothing, so a new installation can run it for weeks before it lets
// berth write anything. Cost: O(l · (g + f + n) + g log g + b) for l GPUs of the lease, g of the node, f files, and n device nodes
// and mounts in b bytes of documents.
func Verify(plan Plan, host Observed) []Difference {
	if err := plan.Validate(); err != nil {
		return planDifferences(err)
	}
	if plan.Lease.Node != host.Node {
		return []Difference{{DiffNode, string(host.Node), string(plan.Lease.Node), string(host.Node)}}
	}
	var differences []Difference
	if err := inOrder(host.Inventory).Validate(); err != nil {
		have := cut(strings.ReplaceAll(err.Error(), "\n", "; "))
		differences = append(differences, Difference{DiffInventory, string(host.Node), "a valid inventory", have})
	}
	differences = append(differences, verifyGPUs(plan, host)...)
	differences = append(differences, verifyFiles(plan, host)...)
	return append(differences, verifySpecs(plan, host)...)
}

// planDifferences lists the mistakes of a plan as differences.
func planDifferences(err error) (all []Difference) {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, err := range list {
		difference := Difference{Code: DiffPlan, Subject: "plan", Have: err.Error()}
		if mistake, ok := errors.AsType[*FieldError](err); ok {
			difference.Subject, difference.Want, difference.Have = mistake.Field, mistake.Problem, mistake.Value
		}
		all = append(all, difference)
	}
	return all
}

func verifyGPUs(plan Plan, host Observed) (missing []Difference) {
	var moved []Difference
	for _, device := range plan.Devices {
		if device.GPU == "" {
			continue
		}
		gpu, found := host.Inventory.Find(device.GPU)
		if !found {
			missing = append(missing, Difference{DiffGPUMissing, string(device.GPU), device.Path, "not in the inventory"})
			continue
		}
		if path := gpuPath(gpu.Minor); path != device.Path {
			moved = append(moved, Difference{DiffMinorMoved, string(device.GPU), device.Path, path})
		}
	}
	return append(missing, moved...)
}

func verifyFiles(plan Plan, host Observed) (missing []Difference) {
	var twice, wrong []Difference
	files, count := map[string]DeviceFile{}, map[string]int{}
	for _, file := range host.Files {
		files[file.Path] = file
		count[file.Path]++
	}
	for _, device := range plan.Devices {
		want := DeviceFile{Path: device.Path, Type: "c", Major: device.Major, Minor: device.Minor}
		have, found := files[device.Path]
		switch {
		case !found:
			missing = append(missing, Difference{DiffFileMissing, device.Path, want.numbers(), ""})
		case count[device.Path] > 1:
			twice = append(twice, Difference{DiffFileTwice, device.Path, "once", fmt.Sprintf("%d times", count[device.Path])})
		case have != want:
			wrong = append(wrong, Difference{DiffFileNumber, device.Path, want.numbers(), have.numbers()})
		}
	}
	return slices.Concat(missing, twice, wrong)
}

func (f DeviceFile) numbers() string {
	return strings.TrimSpace(fmt.Sprintf("%s %d:%d", f.Type, f.Major, f.Minor))
}

// verifySpecs judges the plan's own document by its bytes and every other one by what it grants.
func verifySpecs(plan Plan, host Observed) []Difference {
	var own, stale, twice, foreign, unreadable []Difference
	want, err := plan.Document()
	found := false
	reach := reachOf(plan, host)
	for _, file := range host.Specs {
		if file.Name == plan.SpecFile {
			if found { // one in each of two directories
				twice = append(twice, Difference{DiffSpecTwice, file.Name, "once", plan.Device})
			}
			found = true
			if err != nil || !bytes.Equal(file.Data, want) {
				own = append(own, Difference{DiffSpecContent, file.Name, "the document of the plan", firstDifference(want, file.Data)})
			}
			continue
		}
		spec, err := cdi.Parse(file.Data)
		if err != nil {
			unreadable = append(unreadable, Difference{DiffSpecUnreadable, file.Name, "a valid CDI document", cut(err.Error())})
			continue
		}
		for _, device := range spec.Devices {
			name := spec.Kind + "=" + device.Name
			lease, err := cdi.ParseDeviceName(device.Name)
			switch {
			case name == plan.Device:
				twice = append(twice, Difference{DiffSpecTwice, file.Name, "only in " + plan.SpecFile, name})
			case err == nil && kindOf(plan) == spec.Kind && lease.ID == plan.Lease.ID:
				stale = append(stale, Difference{DiffSpecStale, file.Name, plan.Device, name})
			default:
				for _, path := range reach.grants(spec.ContainerEdits, device.ContainerEdits) {
					foreign = append(foreign, Difference{DiffForeignGrant, file.Name, path + " only by " + plan.Device, name})
				}
			}
		}
	}
	if !found {
		own = append(own, Difference{DiffSpecMissing, plan.SpecFile, "the document of the plan", ""})
	}
	var all []Difference
	for _, list := range [][]Difference{own, stale, twice, foreign, unreadable} {
		all = append(all, list...)
	}
	return all
}

func kindOf(plan Plan) string { return plan.Spec.Kind }

// held is a device of the plan that nobody else may have, and every path that leads to it.
type held struct {
	DeviceNode
	paths []string
}

type reach []held

// reachOf lists the whole GPUs of the plan. Shares may stand beside others, so [Disjoint] judges those.
func reachOf(plan Plan, host Observed) (all reach) {
	for _, device := range plan.Devices {
		if !slices.Contains(plan.Lease.GPUs, device.GPU) {
			continue
		}
		paths := []string{device.Path}
		for _, file := range host.Files { // another name of the same device
			if file.Type == "c" && file.Major == device.Major && file.Minor == device.Minor && file.Path != device.Path {
				paths = append(paths, file.Path)
			}
		}
		all = append(all, held{device, paths})
	}
	return all
}

// grants lists the devices that the edits give away: by device number or, where the document leaves the number to the runtime, by path;
// and by a mount of the file, of a directory above it, or of all devices.
func (r reach) grants(edits ...cdi.ContainerEdits) (paths []string) {
	for _, device := range r {
		given := slices.ContainsFunc(edits, func(edit cdi.ContainerEdits) bool {
			return slices.ContainsFunc(edit.DeviceNodes, device.grantedBy) || slices.ContainsFunc(edit.Mounts, device.mountedBy)
		})
		if given {
			paths = append(paths, device.Path)
		}
	}
	return paths
}

func (h held) grantedBy(node cdi.DeviceNode) bool {
	if node.Type != "" && node.Major != 0 {
		return (node.Type == "c" || node.Type == "u") && node.Major == h.Major && node.Minor == h.Minor
	}
	path := node.HostPath
	if path == "" {
		path = node.Path
	}
	return slices.Contains(h.paths, path)
}

func (h held) mountedBy(mount cdi.Mount) bool {
	if mount.Type == "devtmpfs" {
		return true
	}
	above := strings.TrimSuffix(mount.HostPath, "/") + "/"
	return slices.ContainsFunc(h.paths, func(path string) bool { return path == mount.HostPath || strings.HasPrefix(path, above) })
}

// firstDifference says where two documents part, for people.
func firstDifference(want, have []byte) string {
	line := 1
	for i := range min(len(want), len(have)) {
		if want[i] != have[i] {
			return fmt.Sprintf("differs in line %d", line)
		}
		if want[i] == '\n' {
			line++
		}
	}
	return fmt.Sprintf("%d bytes instead of %d", len(have), len(want))
}
