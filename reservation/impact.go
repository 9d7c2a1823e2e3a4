// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// An OutageMode says what an outage does to bookings.
//
// An OutageMode is immutable and safe for concurrent use.
type OutageMode uint8

// Modes of an [Outage]. New ones are added at the end.
const (
	// Break takes the nodes from everybody: whoever has a seat there lacks it.
	Break OutageMode = iota
	// Refuse is Break, unless a booking would lack anything that it does not lack
	// already: then SetOutage is refused with an [*ImpactError].
	Refuse
	// Drain closes the nodes to every new booking, plan and seat in the window.
	// Whoever has a seat there keeps it, and the node is no capacity only while
	// nobody has it.
	Drain
)

var modeNames = []string{"Break", "Refuse", "Drain"}

// String returns the name of m.
func (m OutageMode) String() string { return name("OutageMode", modeNames, int(m)) }

// MarshalText returns the name of m.
func (m OutageMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

func (o *outage) mode() OutageMode {
	if o.drain {
		return Drain
	}
	return Break
}

// An Impact is what a change does to bookings: how many nodes more, or fewer, they
// lack after it than before, and when, by begin, id and pool.
//
// An Impact is immutable and safe for concurrent use.
type Impact struct {
	Degraded []Degradation `json:"degraded,omitempty"`
	Healed   []Degradation `json:"healed,omitempty"`
}

// A Change is what [Calendar.Impact] looks at. One field is set.
//
// A Change is immutable and safe for concurrent use.
type Change struct {
	SetOutage *Outage // as in [Calendar.SetOutage]; Refuse is looked at as Break
	EndOutage string  // id, as in [Calendar.EndOutage]
	SetPool   *Pool   // as in [Calendar.SetPool]
}

// Impact tells what a change made at an instant would do to bookings, and changes
// nothing. It is all that SetOutage returns, and what EndOutage and SetPool could:
// asked right before them it is the same. It costs what the change costs, and
// twice a look at what is short in its pools.
//
// Possible errors: those of the command, apart from [*ImpactError]; [ErrInvalid]
// unless one field of the change is set.
func (c *Calendar) Impact(at time.Time, change Change) (Impact, error) {
	set := 0
	for _, is := range []bool{change.SetOutage != nil, change.EndOutage != "", change.SetPool != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		return Impact{}, fmt.Errorf("%w: Change has %d fields set, not 1", ErrInvalid, set)
	}
	f := c.asOf(at).Fork()
	s := &f.core.S
	if change.SetOutage != nil {
		o := *change.SetOutage
		if o.Mode == Refuse {
			o.Mode = Break
		}
		return f.SetOutage(at, o)
	}
	if change.SetPool != nil {
		return f.measure(s.now, []string{change.SetPool.Name}, func() error { return f.SetPool(at, *change.SetPool) })
	}
	o := s.outage(change.EndOutage)
	if o == nil {
		return Impact{}, unknown("outage", change.EndOutage)
	}
	return f.measure(s.now, s.outagePools(o), func() error { return f.EndOutage(at, o.id) })
}

// measure runs f and returns what it does to the bookings of some pools.
func (c *Calendar) measure(now int64, pools []string, f func() error) (Impact, error) {
	s := &c.core.S
	look := func() (all []Degradation) {
		for _, p := range pools {
			if s.pool(p) != nil {
				all = append(all, s.degraded(p, now)...)
			}
		}
		return all
	}
	before := look()
	if err := f(); err != nil {
		return Impact{}, err
	}
	i := contrast(before, look())
	for k := range i.Degraded {
		s.complete(&i.Degraded[k], now)
	}
	for k := range i.Healed {
		s.complete(&i.Healed[k], now)
		i.Healed[k].By = time.Time{}
	}
	return i, nil
}

// contrast returns how much more and how much less is short after than before.
func contrast(before, after []Degradation) (i Impact) {
	type edge struct {
		id, pool string
		at, n    int64
	}
	var edges []edge
	add := func(list []Degradation, sign int64) {
		for _, d := range list {
			edges = append(edges, edge{d.ID, d.Pool, tick.Floor(d.Window.Start), sign * d.Shortfall})
			if !d.Window.End.IsZero() { // only Standby claims have no end, and they lack nothing
				edges = append(edges, edge{d.ID, d.Pool, tick.Floor(d.Window.End), -sign * d.Shortfall})
			}
		}
	}
	add(before, -1)
	add(after, +1)
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(strings.Compare(a.id, b.id), strings.Compare(a.pool, b.pool), cmp.Compare(a.at, b.at))
	})
	level, from := int64(0), int64(0)
	for k := 0; k < len(edges); {
		e, was := edges[k], level
		for ; k < len(edges) && edges[k].id == e.id && edges[k].pool == e.pool && edges[k].at == e.at; k++ {
			level += edges[k].n
		}
		if level == was {
			continue
		}
		d := Degradation{ID: e.id, Pool: e.pool, Window: windowOf(from, e.at), Shortfall: max(was, -was)}
		if was > 0 {
			i.Degraded = append(i.Degraded, d)
		} else if was < 0 {
			i.Healed = append(i.Healed, d)
		}
		from = e.at
	}
	slices.SortFunc(i.Degraded, compareDegradations)
	slices.SortFunc(i.Healed, compareDegradations)
	return i
}

// complete fills in what a Degradation says beside its range and its shortfall.
func (s *state) complete(d *Degradation, now int64) {
	r := s.rec(d.ID)
	d.Owner, d.By = r.owner, d.Window.Start
	if l := r.line(d.Pool); l != nil && l.from > now {
		d.By = tick.Time(l.from)
	}
}

// An ImpactError says that an outage in mode Refuse would cost bookings their
// nodes. It Is [ErrConflict].
//
// An ImpactError is immutable and safe for concurrent use.
type ImpactError struct {
	Outage string `json:"outage"` // its id
	Impact Impact `json:"impact"` // at that moment
}

// Is reports whether target is [ErrConflict].
func (e *ImpactError) Is(target error) bool { return target == ErrConflict }

// Error names no booking and no owner.
func (e *ImpactError) Error() string {
	from := ""
	if len(e.Impact.Degraded) > 0 {
		from = " from " + e.Impact.Degraded[0].Window.Start.Format(time.RFC3339) + " on"
	}
	return fmt.Sprintf("%v: outage %q would cost bookings their nodes%s; choose another window or other nodes, or set it to Drain, or to Break and repair",
		ErrConflict, e.Outage, from)
}

// For returns the refusal as owner may see it: what the bookings of all others
// lack comes as one for each pool, without ID and Owner, with the range from the
// first to the last and the greatest shortfall of one of them.
func (e *ImpactError) For(owner string) *ImpactError {
	hide := func(list []Degradation) (out []Degradation) {
		rest := map[string]int{} // index in out by pool
		for _, d := range list {
			if d.Owner == owner {
				out = append(out, d)
				continue
			}
			d.ID, d.Owner = "", ""
			k, ok := rest[d.Pool]
			if !ok {
				rest[d.Pool] = len(out)
				out = append(out, d)
				continue
			}
			x := &out[k]
			if d.Window.End.After(x.Window.End) {
				x.Window.End = d.Window.End
			}
			if d.By.Before(x.By) {
				x.By = d.By
			}
			x.Shortfall = max(x.Shortfall, d.Shortfall)
		}
		return out
	}
	return &ImpactError{Outage: e.Outage, Impact: Impact{hide(e.Impact.Degraded), hide(e.Impact.Healed)}}
}
