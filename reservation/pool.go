// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// A Unit is one node of a pool. Node names are unique over all pools.
//
// A Unit is immutable and safe for concurrent use.
type Unit struct {
	Name  string   `json:"name"`
	Path  []string `json:"path,omitempty"`  // domains from coarse to fine, named by Pool.Levels; may be empty or short
	Spare bool     `json:"spare,omitempty"` // closed to bookings and not counted as capacity
}

// A Policy holds the rules of a pool. A zero field means what its comment says.
// A booking keeps the Prep, Grace and Cleanup under which it was made.
//
// A Policy is immutable and safe for concurrent use.
type Policy struct {
	Prep    time.Duration `json:"prep,omitempty"`    // before Start: nodes are made ready
	Grace   time.Duration `json:"grace,omitempty"`   // after End: work may still leave
	Cleanup time.Duration `json:"cleanup,omitempty"` // after the grace: nodes are handed over

	BindLead time.Duration `json:"bindLead,omitempty"` // how long before its envelope the host should seat a booking; 0 = 10 min
	// ReclaimLead is how long before a Firm envelope Standby work is told to leave.
	// It must be ≥ Prep + Grace + Cleanup; 0 = 15 min, or that sum if it is longer.
	ReclaimLead time.Duration `json:"reclaimLead,omitempty"`

	MinLength time.Duration `json:"minLength,omitempty"` // shortest Firm window; 0 = no rule
	MaxLength time.Duration `json:"maxLength,omitempty"` // longest Firm window; 0 = no rule
	MinLead   time.Duration `json:"minLead,omitempty"`   // least time from the command to Start; 0 = no rule
	Horizon   time.Duration `json:"horizon,omitempty"`   // most time from the command to End; 0 = no rule

	// NoShowGrace is how long after Start somebody has to check in; otherwise the
	// booking is a NoShow and the rest of its window is free. Of the pools of a
	// booking the shortest counts. 0 = no rule.
	NoShowGrace time.Duration `json:"noShowGrace,omitempty"`
}

// A Pool is a set of interchangeable nodes: one GPU model in one fabric.
//
// A Pool is immutable and safe for concurrent use.
type Pool struct {
	Name        string `json:"name"`
	GPUsPerUnit int64  `json:"gpusPerUnit"` // GPUs of one node, ≥ 1
	Units       []Unit `json:"units"`       // in the order in which the calendar prefers them
	Policy      Policy `json:"policy"`
	Label       string `json:"label,omitempty"` // the GPU model, for people
	// Levels names the positions of Unit.Path, coarse to fine, such as "zone",
	// "spine", "rack": what [Line.Within] may ask for. No Path is longer then.
	Levels []string `json:"levels,omitempty"`
	Regime Regime   `json:"regime,omitempty"` // who may make Firm bookings
	Cells  []Cell   `json:"cells,omitempty"`  // by owner; they count while Regime is Cells
}

// terms are the seconds of a Policy with the defaults filled in.
type terms struct {
	prep, grace, cleanup, bind, reclaim int64
	minLength, maxLength, lead, horizon int64
	noShow                              int64
}

const (
	defaultBind    = 600
	defaultReclaim = 900
)

// terms converts p and returns every mistake.
func (p Policy) terms() (terms, error) {
	var t terms
	var errs []error
	for _, f := range []struct {
		name string
		d    time.Duration
		to   *int64
	}{
		{"Prep", p.Prep, &t.prep}, {"Grace", p.Grace, &t.grace}, {"Cleanup", p.Cleanup, &t.cleanup},
		{"BindLead", p.BindLead, &t.bind}, {"ReclaimLead", p.ReclaimLead, &t.reclaim},
		{"MinLength", p.MinLength, &t.minLength}, {"MaxLength", p.MaxLength, &t.maxLength},
		{"MinLead", p.MinLead, &t.lead}, {"Horizon", p.Horizon, &t.horizon}, {"NoShowGrace", p.NoShowGrace, &t.noShow},
	} {
		s, err := tick.Seconds(f.d)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: Policy.%s: %w", ErrInvalid, f.name, err))
		}
		*f.to = s
	}
	if len(errs) > 0 {
		return terms{}, errors.Join(errs...)
	}
	if t.bind == 0 {
		t.bind = defaultBind
	}
	sum := t.prep + t.grace + t.cleanup
	if t.reclaim == 0 {
		t.reclaim = max(defaultReclaim, sum)
	} else if t.reclaim < sum {
		errs = append(errs, fmt.Errorf("%w: Policy.ReclaimLead %s is shorter than Prep + Grace + Cleanup = %s",
			ErrInvalid, p.ReclaimLead, p.Prep+p.Grace+p.Cleanup))
	}
	if t.maxLength > 0 && t.maxLength < t.minLength {
		errs = append(errs, fmt.Errorf("%w: Policy.MaxLength %s is shorter than MinLength %s", ErrInvalid, p.MaxLength, p.MinLength))
	}
	return t, errors.Join(errs...)
}

// check returns every mistake of p that can be seen without other pools.
func (p *Pool) check() (terms, error) {
	var errs []error
	if err := checkID("Pool.Name", p.Name); err != nil {
		errs = append(errs, err)
	}
	if p.GPUsPerUnit < 1 || p.GPUsPerUnit > maxUnits {
		errs = append(errs, fmt.Errorf("%w: pool %q: GPUsPerUnit %d is not in 1 … %d", ErrInvalid, p.Name, p.GPUsPerUnit, maxUnits))
	}
	if err := checkText("Pool.Label", p.Label); err != nil {
		errs = append(errs, err)
	}
	if len(p.Units) > maxUnits {
		errs = append(errs, fmt.Errorf("%w: pool %q has %d units, more than %d", ErrInvalid, p.Name, len(p.Units), maxUnits))
	}
	seen := make(map[string]bool, len(p.Units))
	for i, u := range p.Units {
		if err := checkID(fmt.Sprintf("pool %q: Units[%d].Name", p.Name, i), u.Name); err != nil {
			errs = append(errs, err)
		} else if seen[u.Name] {
			errs = append(errs, fmt.Errorf("%w: pool %q: Units[%d].Name %q is there twice", ErrInvalid, p.Name, i, u.Name))
		}
		seen[u.Name] = true
		for k, d := range u.Path {
			if err := checkID(fmt.Sprintf("pool %q: unit %q: Path[%d]", p.Name, u.Name, k), d); err != nil {
				errs = append(errs, err)
			}
		}
	}
	errs = append(errs, p.checkLevels(), p.checkCells())
	t, err := p.Policy.terms()
	if err != nil {
		errs = append(errs, fmt.Errorf("pool %q: %w", p.Name, err))
	}
	return t, errors.Join(errs...)
}

// clone returns a Pool that shares no slice with p.
func (p Pool) clone() Pool {
	p.Units = slices.Clone(p.Units)
	for i := range p.Units {
		p.Units[i].Path = slices.Clone(p.Units[i].Path)
	}
	p.Levels, p.Cells = slices.Clone(p.Levels), sortedCells(p.Cells)
	return p
}
