// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
)

// A Regime says who may make Firm bookings in a pool. New ones are added at the
// end.
//
// A Regime is immutable and safe for concurrent use.
type Regime uint8

// Regimes of a pool.
const (
	Open Regime = iota // whoever comes first
	// Cells: at no instant may the Firm envelopes of an owner have more nodes than
	// its [Cell], and an owner without one gets none. So nobody's bookings keep
	// another from its own. What a cell does not use takes Standby only.
	Cells
)

var regimeNames = []string{"Open", "Cells"}

// String returns the name of r.
func (r Regime) String() string { return name("Regime", regimeNames, int(r)) }

// MarshalText returns the name of r.
func (r Regime) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// A Cell is how many nodes of a pool an owner may have in Firm bookings: the
// host's mirror of what the owner is entitled to, as in a quota tree.
//
// The cells may be more than the pool, since nodes fail and a mirror follows
// later; then the count refuses what the cell allows. A cell that shrinks
// refuses new bookings and takes nothing from those there are, holds included.
//
// A Cell is immutable and safe for concurrent use.
type Cell struct {
	Owner string `json:"owner"`
	Count int64  `json:"count"` // nodes, ≥ 0
}

// sortedCells returns a copy by owner.
func sortedCells(cells []Cell) []Cell {
	cells = slices.Clone(cells)
	slices.SortStableFunc(cells, func(a, b Cell) int { return strings.Compare(a.Owner, b.Owner) })
	return cells
}

// checkCells returns every mistake in the regime and the cells.
func (p *Pool) checkCells() error {
	var errs []error
	if p.Regime > Cells {
		errs = append(errs, fmt.Errorf("%w: pool %q: Regime is %d; use Open or Cells", ErrInvalid, p.Name, p.Regime))
	}
	for i, x := range p.Cells {
		field := fmt.Sprintf("pool %q: Cells[%d]", p.Name, i)
		if err := checkID(field+".Owner", x.Owner); err != nil {
			errs = append(errs, err)
		}
		if x.Count < 0 || x.Count > maxCount {
			errs = append(errs, fmt.Errorf("%w: %s.Count %d is not in 0 … %d", ErrInvalid, field, x.Count, int64(maxCount)))
		}
		if i > 0 && p.Cells[i-1].Owner >= x.Owner {
			errs = append(errs, fmt.Errorf("%w: %s.Owner %q is there twice or out of order", ErrInvalid, field, x.Owner))
		}
	}
	return errors.Join(errs...)
}

// cell returns how many nodes an owner may have; 0 without a cell.
func (p *Pool) cell(owner string) int64 {
	i, found := slices.BinarySearchFunc(p.Cells, owner, func(x Cell, owner string) int { return strings.Compare(x.Owner, owner) })
	if !found {
		return 0
	}
	return p.Cells[i].Count
}

func (c *coder) regime(v *Regime) {
	n := uint64(*v)
	c.uint(&n)
	if c.r == nil {
		return
	}
	if n > uint64(Cells) {
		c.r.Fail("regime is %d", n)
		n = 0
	}
	*v = Regime(n)
}

func (c *coder) cell(v *Cell) {
	c.str(&v.Owner)
	c.int(&v.Count)
}

// cellUse is the nodes of one owner's Firm envelopes in one pool over time. It
// is kept only while the pool's regime needs it.
type cellUse struct {
	pool, owner string
	load        step.Tree
}

func (a cellUse) less(b cellUse) bool {
	if c := strings.Compare(a.pool, b.pool); c != 0 {
		return c < 0
	}
	return a.owner < b.owner
}

func (s *state) cellUse(pool, owner string) step.Tree {
	x, _ := s.cells.Find(cellUse{pool: pool, owner: owner})
	return x.load
}

// swapCell keeps the use of cells in step with line i of a record.
func (s *state) swapCell(tok *cow.Token, old, now *record, i int) {
	type use struct {
		owner       string
		from, to, n int64
	}
	of := func(r *record) (u use, pool string) {
		if r == nil {
			return use{}, ""
		}
		l := &r.lines[i]
		if n := r.uses(l); n > 0 {
			u = use{r.owner, l.from, l.to, n}
		}
		return u, l.pool
	}
	a, pool := of(old)
	b, other := of(now)
	if pool == "" {
		pool = other
	}
	if a == b || s.pool(pool).Regime != Cells {
		return
	}
	s.addCell(tok, pool, a.owner, a.from, a.to, -a.n)
	s.addCell(tok, pool, b.owner, b.from, b.to, b.n)
}

func (s *state) addCell(tok *cow.Token, pool, owner string, from, to, n int64) {
	if n == 0 || from >= to {
		return
	}
	x, _ := s.cells.Find(cellUse{pool: pool, owner: owner})
	x.pool, x.owner = pool, owner
	x.load.Add(tok, from, to, n)
	if x.load.Len() == 0 {
		s.cells.Remove(tok, x)
	} else {
		s.cells.Put(tok, x)
	}
}

// recell begins or ends to keep the use of cells when the regime has changed.
func (s *state) recell(tok *cow.Token, old, now *pool) {
	if old == nil || old.Regime == now.Regime {
		return
	}
	var gone []cellUse
	for x := range s.cells.From(cellUse{pool: now.Name}) {
		if x.pool != now.Name {
			break
		}
		gone = append(gone, x)
	}
	for _, x := range gone {
		s.cells.Remove(tok, x)
	}
	if now.Regime != Cells {
		return
	}
	for r := range s.recs.All() {
		if l := r.line(now.Name); l != nil {
			s.addCell(tok, now.Name, r.owner, l.from, l.to, r.uses(l))
		}
	}
}

// cellConflict refuses line l of r if in [from, to), in which r has nothing yet,
// its owner would pass its cell.
func (s *state) cellConflict(r *record, l *line, from, to int64) *ConflictError {
	p := s.pool(l.pool)
	if p.Regime != Cells || r.class != Firm {
		return nil
	}
	use, n := s.cellUse(l.pool, r.owner), p.cell(r.owner)
	most := use.Max(from, to)
	if most <= n-l.count {
		return nil
	}
	e := &ConflictError{ID: r.id, Pool: l.pool, Reason: ReasonCell, Need: l.count, Cell: n, Free: n - most}
	e.Shortfall = e.Need - e.Free
	first, last := int64(none), to
	for x := range use.Steps(from, to) {
		if x.Level > n-l.count && first == none {
			first, e.Used = x.From, x.Level
		} else if x.Level <= n-l.count && first != none {
			last = x.From
			break
		}
	}
	e.At = windowOf(first, last)
	e.Blocking = s.inTheWay(l.pool, r.owner, first, e.Used+l.count-n, r.id)
	return e
}

// byCell returns the least begin of an envelope from an instant on at which the
// owner's cell has room for line i.
func (x *search) byCell(i int, from, whole int64) (int64, bool) {
	p := x.pools[i]
	if p.Regime != Cells {
		return from, true
	}
	use := x.s.cellUse(p.Name, x.owner)
	return use.FirstFit(from, x.hi-p.prep, whole, p.cell(x.owner)-x.lines[i].Count)
}

// named refuses a question without an owner about a pool with cells.
func (s *state) named(owner string, lines []Line) error {
	for _, l := range lines {
		if p := s.pool(l.Pool); p != nil && p.Regime == Cells && owner == "" {
			return fmt.Errorf("%w: Query.Owner is empty, but pool %q has cells; name the owner", ErrInvalid, l.Pool)
		}
	}
	return nil
}

// checkCellUse compares the use of cells with sums over all records.
func (s *state) checkCellUse() error {
	type key struct{ pool, owner string }
	want, seen := map[key]map[int64]int64{}, 0
	for r := range s.recs.All() {
		for i := range r.lines {
			l := &r.lines[i]
			n := r.uses(l)
			if n == 0 || l.from >= l.to || s.pool(l.pool).Regime != Cells {
				continue
			}
			k := key{l.pool, r.owner}
			if want[k] == nil {
				want[k] = map[int64]int64{}
			}
			want[k][l.from] += n
			want[k][l.to] -= n
		}
	}
	for k := range want {
		maps.DeleteFunc(want[k], func(_, d int64) bool { return d == 0 })
	}
	for x := range s.cells.All() {
		seen++
		got := maps.Collect(x.load.Changes())
		if !maps.Equal(got, want[key{x.pool, x.owner}]) {
			return fmt.Errorf("I1: pool %q: the cell of %q has changes %v, the records say %v", x.pool, x.owner, got, want[key{x.pool, x.owner}])
		}
	}
	if seen != len(want) {
		return fmt.Errorf("I1: the use of %d cells is kept, not of %d", seen, len(want))
	}
	return nil
}
