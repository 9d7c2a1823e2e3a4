// SPDX-License-Identifier: Apache-2.0

package service

import (
	"slices"

	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/quota"
)

// Quota returns the tree. A tenant sees itself, what is below it, and the nodes above it.
func (s *Service) Quota(viewer string) []views.QuotaNode {
	st := s.Cell.Load()
	now := s.now(st)
	byParent := map[string][]quota.Tenant{}
	parent := map[string]string{}
	for t := range st.Ledger.Tenants() {
		byParent[t.Parent] = append(byParent[t.Parent], t)
		parent[t.Name] = t.Parent
	}
	above := map[string]bool{}
	for t := viewer; t != ""; t = parent[t] {
		above[t] = true
	}
	keys := map[quota.Key]bool{}
	for p := range st.Calendar.Pools() {
		key, _ := state.NodePrice(p)
		keys[key] = true
	}
	keys[state.CPUKey] = true
	var ordered []quota.Key
	for k := range keys {
		ordered = append(ordered, k)
	}
	slices.Sort(ordered)
	var out []views.QuotaNode
	var walk func(name string, depth int, below bool)
	walk = func(name string, depth int, below bool) {
		for _, t := range byParent[name] {
			own := below || t.Name == viewer
			if viewer != "" && !own && !above[t.Name] {
				continue
			}
			n := views.QuotaNode{Tenant: t.Name, Parent: t.Parent, Depth: depth}
			for _, k := range ordered {
				if u, ok := st.Ledger.Usage(t.Name, k, now); ok && (u.Nominal > 0 || u.Used > 0 || u.Subtree > 0) {
					n.Keys = append(n.Keys, views.QuotaKey{Key: string(k), Nominal: u.Subtree, Used: u.Used, Guaranteed: u.Guaranteed,
						Borrowed: u.Borrowed, Lent: u.Lent, Idle: u.Idle, Available: u.Available})
				}
			}
			out = append(out, n)
			walk(t.Name, depth+1, own)
		}
	}
	walk("", 0, false)
	return out
}
