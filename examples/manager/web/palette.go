// SPDX-License-Identifier: Apache-2.0

package web

import (
	"slices"
	"strconv"
)

// colours is the number of tenant colours in app.css (classes t0, t1, …): the
// palette of Okabe and Ito ("Color Universal Design", 2008), which people with
// any common kind of colour blindness tell apart. A name stands beside every
// colour, so that a palette that begins again after colours tenants misleads
// nobody.
const colours = 8

// A palette gives each tenant its colour by its place in the order of names,
// so that the same tenants have the same colours on every page.
type palette struct {
	place map[string]int
	names []string
}

func newPalette(tenants []string) palette {
	names := slices.Clone(tenants)
	slices.Sort(names)
	names = slices.Compact(names)
	p := palette{place: make(map[string]int, len(names)), names: names}
	for i, n := range names {
		p.place[n] = i
	}
	return p
}

// Class returns the CSS class of a tenant's colour; "tx" for anybody who may
// not own anything here ("other tenants", a group of the tree).
func (p palette) Class(tenant string) string {
	if i, ok := p.place[tenant]; ok {
		return "t" + strconv.Itoa(i%colours)
	}
	return "tx"
}

// Names returns the tenants that have a colour, in order.
func (p palette) Names() []string { return p.names }
