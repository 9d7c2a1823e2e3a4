// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"fmt"
	"slices"
)

// A Limit is what one tenant has and may do of one key. A tenant without a
// Limit for a key has nominal 0 and no bounds.
//
// A Limit is immutable and safe for concurrent use.
type Limit struct {
	Key Key `json:"key"`
	// Nominal is the tenant's own share, 0 to MaxAmount.
	Nominal int64 `json:"nominal"`
	// Borrow bounds what the tenant's subtree may take from its parent beyond
	// what it brings along. A root has nobody to borrow from: not used there.
	Borrow Bound `json:"borrow,omitzero"`
	// Lend bounds what the subtree offers to its parent. A root has nobody to
	// lend to: not used there.
	Lend Bound `json:"lend,omitzero"`
	// Cap bounds the raw usage of the whole subtree, whoever's share it is.
	Cap Bound `json:"cap,omitzero"`
}

// moot reports whether l says what its absence says.
func (l *Limit) moot() bool {
	return l.Nominal == 0 && l.Borrow == Bound{} && l.Lend == Bound{} && l.Cap == Bound{}
}

// A Tenant is a node of the tree: an organisation, a team, a project.
//
// A Tenant may be read by many goroutines while nobody changes it.
type Tenant struct {
	Name   string  `json:"name"`
	Parent string  `json:"parent,omitempty"` // "" makes it a root
	Limits []Limit `json:"limits,omitempty"` // in any order, a key at most once, at most MaxLimits
}

// A Config is the tree a ledger starts with. The zero Config is an empty tree,
// to be grown with [Ledger.SetTenant].
//
// A Config may be read by many goroutines while nobody changes it.
type Config struct {
	Tenants []Tenant `json:"tenants"` // in any order
}

// normal returns t with its own sorted copy of the limits that say something.
func (t Tenant) normal() Tenant {
	var out []Limit
	for i := range t.Limits {
		if !t.Limits[i].moot() {
			out = append(out, t.Limits[i])
		}
	}
	slices.SortFunc(out, func(a, b Limit) int { return cmp.Compare(a.Key, b.Key) })
	t.Limits = out
	return t
}

// problems reports all that is wrong with t alone.
func (t *Tenant) problems(field string) (errs []error) {
	if p := badName(t.Name); p != "" {
		errs = append(errs, fmt.Errorf("%sName %q %s", field, t.Name, p))
	}
	if p := badText(t.Parent); p != "" {
		errs = append(errs, fmt.Errorf("%sParent %q %s", field, t.Parent, p))
	}
	if t.Parent == t.Name && t.Name != "" {
		errs = append(errs, fmt.Errorf("%sParent %q: a tenant cannot be its own parent", field, t.Parent))
	}
	if len(t.Limits) > MaxLimits {
		return append(errs, fmt.Errorf("%sLimits has %d entries: at most %d", field, len(t.Limits), MaxLimits))
	}
	seen := make(map[Key]bool, len(t.Limits))
	for i, l := range t.Limits {
		at := fmt.Sprintf("%sLimits[%d]", field, i)
		if p := badName(string(l.Key)); p != "" {
			errs = append(errs, fmt.Errorf("%s.Key %q %s", at, l.Key, p))
		}
		if seen[l.Key] {
			errs = append(errs, fmt.Errorf("%s.Key %q is listed twice; join the two limits", at, l.Key))
		}
		seen[l.Key] = true
		if l.Nominal < 0 || l.Nominal > MaxAmount {
			errs = append(errs, fmt.Errorf("%s.Nominal %d: must be 0 to %d", at, l.Nominal, int64(MaxAmount)))
		}
		for _, b := range []struct {
			name string
			Bound
		}{{"Borrow", l.Borrow}, {"Lend", l.Lend}, {"Cap", l.Cap}} {
			if p := b.problem(); p != "" {
				errs = append(errs, fmt.Errorf("%s.%s %d %s", at, b.name, b.Max, p))
			}
		}
	}
	return errs
}

// plant checks a whole tree and returns its tenants, normal, parents first.
func plant(tenants []Tenant) ([]Tenant, error) {
	var errs []error
	if len(tenants) > MaxTenants {
		return nil, invalid([]error{fmt.Errorf("Tenants has %d entries: at most %d", len(tenants), MaxTenants)})
	}
	index := make(map[string]int, len(tenants))
	for i := range tenants {
		t := &tenants[i]
		errs = append(errs, t.problems(fmt.Sprintf("Tenants[%d].", i))...)
		if j, ok := index[t.Name]; ok {
			errs = append(errs, fmt.Errorf("Tenants[%d].Name %q is used by Tenants[%d]", i, t.Name, j))
			continue
		}
		index[t.Name] = i
	}
	order := make([]Tenant, 0, len(tenants))
	const onPath, done = 1, 2
	mark := make([]uint8, len(tenants))
	var path []int
	for i := range tenants {
		// Walk up to the first finished ancestor, then take the path top down.
		path = path[:0]
		for j := i; mark[j] == 0; {
			mark[j] = onPath
			path = append(path, j)
			parent := tenants[j].Parent
			if parent == "" || parent == tenants[j].Name {
				break
			}
			k, ok := index[parent]
			if !ok {
				errs = append(errs, fmt.Errorf("Tenants[%d].Parent %q: no tenant has this name", j, parent))
				break
			}
			if mark[k] == onPath {
				errs = append(errs, fmt.Errorf("Tenants[%d].Parent %q: the tenants form a cycle", j, parent))
				break
			}
			j = k
		}
		for _, j := range slices.Backward(path) {
			mark[j] = done
			order = append(order, tenants[j].normal())
		}
	}
	if err := invalid(errs); err != nil {
		return nil, err
	}
	return order, nil
}
