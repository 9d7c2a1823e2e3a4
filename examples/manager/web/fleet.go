// SPDX-License-Identifier: Apache-2.0

package web

import (
	"html/template"
	"net/http"
	"net/url"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// fleetPage is every node, or one pool's with a table.
type fleetPage struct {
	base
	Pools []fleetPool
	Pool  string // the one that was asked for
}

// A fleetPool is one pool's picture.
type fleetPool struct {
	views.FleetPool
	Map   template.HTML
	Owned int // nodes that serve somebody
	Held  int
}

// slowly is the least time between two refreshes of the fleet's map, which is
// hundreds of kilobytes.
const slowly = 3000

func (s *server) fleet(viewer string, r *http.Request) (result, error) {
	pool := r.Form.Get("pool")
	m, err := s.src.Fleet(viewer, pool)
	if err != nil {
		return result{}, err
	}
	page := fleetPage{base: s.base(viewer, "Fleet", "fleet"), Pool: pool}
	if pool != "" {
		page.Title = pool + " fleet"
	}
	page.Every = max(page.Every, slowly)
	page.live("/fleet", url.Values{"pool": {pool}})
	for _, p := range m.Pools {
		fp := fleetPool{FleetPool: p, Map: nodeMap(p.Nodes, page.palette)}
		for _, n := range p.Nodes {
			if n.Tenant != "" {
				fp.Owned++
			}
			if len(n.Holds) > 0 {
				fp.Held++
			}
		}
		page.Pools = append(page.Pools, fp)
	}
	return result{template: "fleet", data: page}, nil
}

// nodePage is one node's facts.
type nodePage struct {
	base
	views.Node
	Cell template.HTML
}

func (s *server) node(viewer string, r *http.Request) (result, error) {
	id := r.Form.Get("id")
	if id == "" {
		return result{}, bad("id", id, "is no node; choose one on the fleet's map")
	}
	n, err := s.src.Node(viewer, id)
	if err != nil {
		return result{}, err
	}
	page := nodePage{base: s.base(viewer, n.ID, "fleet"), Node: n}
	page.Cell = nodeMap([]views.Node{n}, page.palette)
	page.live("/node", url.Values{"id": {id}})
	return result{template: "node", data: page}, nil
}
