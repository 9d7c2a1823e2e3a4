// SPDX-License-Identifier: Apache-2.0

package reservation

import "time"

const (
	presetDay   = 24 * time.Hour
	presetWeek  = 7 * presetDay
	presetClock = 11*time.Hour + 30*time.Minute // of the ends of AWS and Azure, UTC
)

// preset is the published rules of one provider.
type preset struct {
	name   string
	policy Policy
	open   []string // what is not published
}

// PresetNames returns the names that [Preset] knows, in order.
func PresetNames() []string {
	var out []string
	for _, p := range presets() {
		out = append(out, p.name)
	}
	return out
}

// Preset returns the published reservation rules of a provider as a fresh
// Policy, and what its rules leave open: each entry begins with the field that
// is therefore unset, or was set by inference, and says why. The names are
// those of [PresetNames]. The rules are as read in 2026 and change; sizes,
// prices and quotas are not rules of a calendar.
func Preset(name string) (p Policy, open []string, ok bool) {
	for _, x := range presets() {
		if x.name == name {
			return x.policy, x.open, true
		}
	}
	return Policy{}, nil, false
}

// presets is the table of providers. A value without a source beside it is
// from the page named last.
func presets() []preset {
	// Days up to 14, then whole weeks up to 26; both AWS and Azure have them.
	daysThenWeeks := []LengthStep{{UpTo: 14 * presetDay, Every: presetDay}, {UpTo: 26 * presetWeek, Every: presetWeek}}
	return []preset{
		{
			name: "AWSCapacityBlock", // EC2 Capacity Blocks for ML
			policy: Policy{
				// docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html: durations,
				// all end at 11:30 UTC, so that the offers for one day are a little shorter or longer
				// than was asked; a block from 04:55 to 11:30 has 6 hours (EC2 API, CapacityBlockOffering).
				Steps:    daysThenWeeks,
				AlignEnd: Grid{Every: presetDay, Offset: presetClock},
				CutFirst: true,
				// …/ec2-capacity-blocks.html: a start up to eight weeks ahead, and in as little as 30 min.
				MinLead: 30 * time.Minute,
				MaxLead: 8 * presetWeek,
				// …/capacity-blocks-extend.html: from 56 days to 1 hour before the end, any number of
				// times, by the same steps to 182 days in total, if there is capacity.
				ExtendFrom:  56 * presetDay,
				ExtendUntil: time.Hour,
				// EC2 API, CancelCapacityReservation: a Capacity Block is neither modified nor cancelled.
				NoCancel: true,
				// …/capacity-blocks-monitor.html: an event 40 min before the end. …/capacity-blocks-using.html:
				// instances are terminated from 30 min before the end on, which the host does at that notice.
				Notices: []time.Duration{40 * time.Minute, 30 * time.Minute},
				// An offer has all instances or there is none.
				Partial: PartialNone,
			},
			open: []string{
				"Prep: not published", "Cleanup: not published",
				"Grace: none after the end; work is ended in the last 30 minutes (60 for UltraServers), see Notices",
			},
		},
		{
			name: "GCPCalendar", // future reservations in calendar mode, for GPU VMs
			policy: Policy{
				// cloud.google.com/compute/docs/instances/future-reservations-calendar-mode-overview: up to
				// 90 days, availability is shown 60 days ahead for GPUs (120 for TPUs); the TPU guide
				// (docs.cloud.google.com/tpu/docs/calendar-mode-reservation) has the least, 1 day.
				MinLength: presetDay,
				MaxLength: 90 * presetDay,
				MaxLead:   60 * presetDay,
				// A request cannot be modified.
				NoExtend: true,
				// Second-hand: 87 h ahead for GPUs (6 h for TPUs); cancelled before the lock time only,
				// which is 56 days before the start, or the approval if that is later.
				MinLead:     87 * time.Hour,
				CancelUntil: 56 * presetDay,
			},
			open: []string{
				"MaxLead: inferred from the range of the availability view", "MinLead: second-hand", "CancelUntil: second-hand",
				"Steps: not published", "AlignStart: not published", "Notices: not published", "Prep: not published", "Grace: not published", "Cleanup: not published",
				"Partial: not published for this mode",
			},
		},
		{
			name: "AzureBlock", // block capacity reservations
			policy: Policy{
				// learn.microsoft.com, Compute API, ScheduleProfile: 1–14 whole days or 3–26 whole weeks; a
				// start today, if asked before 11:30 UTC, or within 56 days; start and end never change.
				// Start and end are dates. With starts at 11:30 UTC "today before 11:30" is a lead of more
				// than nothing, and "within 56 days" is 56 days and the 11:30 h of the first.
				Steps:      daysThenWeeks,
				AlignStart: Grid{Every: presetDay, Offset: presetClock},
				MinLead:    time.Second,
				MaxLead:    56*presetDay + presetClock,
				NoExtend:   true,
				// The same API, CapacityReservations_Delete: not deleted before the end of its schedule.
				NoCancel: true,
			},
			open: []string{
				"AlignStart: the clock time is inferred from the deadline for the same day",
				"Notices: not published", "Prep: not published", "Grace: not published", "Cleanup: not published", "Partial: not published",
			},
		},
		{
			name: "TogetherReserved", // GPU clusters with billing type RESERVED
			policy: Policy{
				// docs.together.ai, GPU clusters: duration_days 1 to 90, or an end time; paid up front; begins
				// when the cluster is ready, never in a future window.
				MinLength: presetDay,
				MaxLength: 90 * presetDay,
				MaxLead:   time.Second,
				// Neither cancelled nor paused; decommissioned at the end after a mail 24 h before.
				NoCancel: true,
				Notices:  []time.Duration{presetDay},
				// Create answers 409 if not all nodes are in stock.
				Partial: PartialNone,
			},
			open: []string{
				"MaxLength: that extensions count towards it is inferred",
				"ExtendFrom: not published", "ExtendUntil: not published", "MaxExtend: not published",
				"Prep: not published", "Grace: not published", "Cleanup: not published", "Horizon: none, since there is no future window",
			},
		},
		{
			name: "NebiusIntervals", // capacity block groups: the sum of half-open intervals
			// github.com/nebius/api, CapacityBlockGroup and CapacityInterval: intervals overlap, adjoin or
			// leave gaps, [start, end), as bookings do here. All rules are in the contract.
			policy: Policy{},
			open: []string{
				"MinLength: contract", "MaxLength: contract", "Steps: contract", "MinLead: contract", "MaxLead: contract", "Horizon: contract",
				"NoExtend: extended by the provider's manager only", "NoCancel: cancelled by the provider's manager only",
				"Notices: not published", "Prep: not published", "Grace: not published", "Cleanup: not published", "Partial: not published",
			},
		},
	}
}
