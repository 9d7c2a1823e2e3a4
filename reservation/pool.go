// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"slices"
)

// A Unit is one node of a pool. Node names are unique over all pools.
//
// A Unit is immutable and safe for concurrent use.
type Unit struct {
	Name  string   `json:"name"`
	Path  []string `json:"path,omitempty"`  // domains from coarse to fine, named by Pool.Levels; may be empty or short
	Spare bool     `json:"spare,omitempty"` // closed to bookings and not counted as capacity
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
	p.Policy = p.Policy.clone()
	return p
}
