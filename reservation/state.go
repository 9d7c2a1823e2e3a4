// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/internal/tick"
)

// state is everything a Calendar knows. Its containers are copy-on-write, so
// a copy of the struct is a fork. Pools, records and outages are reached by
// pointer and never changed once they are stored.
//
// Encoded: start, now, pools, outages, recs (with seats and plans), notices,
// bypass, waitSeq, series, waits.
// Everything else is an index that Restore rebuilds.
type state struct {
	start, now int64
	last       *byte // of the last event in this process; says whether a fork is stale

	pools   directory[*pool]
	nodes   cow.Sorted[node] // by name
	outages directory[*outage]
	recs    directory[*record]

	live    cow.Sorted[*record]  // live records by start, id
	final   cow.Sorted[clearing] // other records by the instant from which they may be forgotten
	due     cow.Sorted[due]      // what changes by itself
	spans   cow.Sorted[span]     // which lines touch a range
	needy   cow.Sorted[float]    // Firm lines that wait for their seats and have no plan, or too few nodes in it
	full    cow.Sorted[float]    // those with a plan for all of them
	planned cow.Sorted[float]    // those of both with a plan that are not near
	short   cow.Sorted[float]    // Firm lines with seats, but too few
	seats   cow.Sorted[slot]     // Firm seats by node and time; one node's never overlap
	plans   cow.Sorted[slot]     // planned seats by node and time; likewise
	told    cow.Sorted[slot]     // those of them that are near and confirmed
	outs    cow.Sorted[slot]     // outages by node and time; may overlap
	fixed   cow.Sorted[fix]      // begins of seats and outages by pool
	ready   cow.Sorted[ready]    // open nodes by the end of their last Firm seat
	dead    cow.Sorted[deadSeat] // nodes with a seat and an outage at one time
	drains  cow.Sorted[slot]     // drains by node and time; may overlap. They are not in outs

	bypass  int64  // how often an entry is passed over; of Config
	waitSeq uint64 // Seq of the last entry
	series  directory[*SeriesStatus]
	occs    cow.Sorted[occurrence] // their bookings; an index
	waits   cow.Sorted[*Waiter]    // in the order in which they are served
	waitIDs directory[*Waiter]     // the same; an index
	cells   cow.Sorted[cellUse]    // nodes of Firm envelopes by pool and owner, in pools with cells
}

// pool is a Pool, its terms and its levels over time.
type pool struct {
	Pool
	terms
	open  int64     // units that are not spare
	load  step.Tree // nodes of Firm envelopes + lost − extra: free = open − load
	lost  step.Tree // open nodes in outage
	extra step.Tree // spares in use by a booking and not in outage: capacity = open − lost + extra
	sum   int64     // nodes of all lines in load, to bound its levels

	groups [][]domain // by level
}

// node is one unit and what the calendar keeps about it.
type node struct {
	name, pool string
	ord        int // index in the pool's units
	spare      bool
	standby    string // the Standby claim that has it
	notice     string // the Firm booking for which that claim was told to leave
	noticeBy   int64  // and by when; 0 without a notice
	reclaimAt  int64  // instant of the queued notice; none if there is none
	last       int64  // end of its last Firm seat; none if it has none
}

// record is one booking.
type record struct {
	id, owner, note string
	class           Class
	phase           Phase
	held            bool    // made by Hold
	start, end      int64   // end may be tick.Forever
	origin          *origin // the request as it was made, if it has changed since
	created         int64
	expires         int64 // if held
	ended           int64 // if not live
	version         uint64
	show            int64  // from start on; who has not checked in by then is a no-show; 0: no rule
	shown           bool   // checked in
	yield           int64  // until then Standby claims may use its nodes; 0: not at all
	split, into     string // where it came from, and went to
	after, before   string // the booking it continues, and the one that continues it
	lines           []line // by pool, each pool once
	series          string // of which it is an occurrence
	index, shift    int64  // in the series; seconds later than its rule says
	detached        bool   // changed by itself
}

// origin is what of a request may change later.
type origin struct {
	owner      string
	start, end int64
	lines      []Line
}

// line is what a booking has of one pool.
type line struct {
	pool     string
	count    int64
	pinned   []string // sorted
	from, to int64    // the envelope
	cleanup  int64
	lead     int64    // near from − lead on
	near     bool     // a floating line that begins within its lead; its plan is told to Standby claims
	open     bool     // the envelope has begun
	seats    []string // sorted
	late     []late   // of seats that came after the envelope began, by node
	plan     []string // sorted; only while it floats
	within   string   // a level: the seats lie in one domain; it has seats from the first, and does not float
}

// late is a seat that the line has only since an instant.
type late struct {
	node  string
	since int64
}

// seatFrom returns since when the line has a node.
func (l *line) seatFrom(name string) int64 {
	if i, ok := slices.BinarySearchFunc(l.late, name, func(x late, name string) int { return strings.Compare(x.node, name) }); ok {
		return l.late[i].since
	}
	return l.from
}

// setSeats replaces the seats of a line. Nodes that are new to an open line
// count from now on: before, somebody else may have had them.
func (l *line) setSeats(names []string, now int64) {
	var since []late
	for _, n := range names {
		at := now
		if inSorted(l.seats, n) {
			at = l.seatFrom(n)
		}
		if l.open && at != l.from {
			since = append(since, late{n, at})
		}
	}
	l.seats, l.late = names, since
}

type outage struct {
	id, owner, reason string
	nodes             []string // sorted; a name may be gone from the pools
	from, to          int64
	drain             bool // whoever has a seat there keeps it
}

const none = -1 << 63 // no instant

// floating reports whether line l waits for its seats.
func (r *record) floating(l *line) bool {
	return r.class == Firm && r.phase.Live() && !l.open && len(l.pinned) == 0 && len(l.seats) == 0 && l.within == ""
}

// occupies reports whether line l keeps nodes from others in its envelope.
func (r *record) occupies(l *line) bool {
	return r.class == Firm && (r.phase.Live() || r.phase.cleans()) && l.from < l.to
}

// uses returns how many nodes line l keeps from others in its envelope. In the
// cleanup it is those that it had.
func (r *record) uses(l *line) int64 {
	switch {
	case !r.occupies(l):
		return 0
	case r.phase.cleans():
		return int64(len(l.seats))
	default:
		return l.count
	}
}

// isShort reports whether line l has seats, or should have, but too few.
func (r *record) isShort(l *line) bool {
	return r.class == Firm && r.phase.Live() && !r.floating(l) && int64(len(l.seats)) < l.count
}

// graceEnd returns the instant by which work must be gone.
func (r *record) graceEnd() int64 {
	if r.end == tick.Forever {
		return tick.Forever
	}
	at := r.end
	for i := range r.lines {
		at = max(at, r.lines[i].to-r.lines[i].cleanup)
	}
	return at
}

// last returns when the entitlement of r is or was over.
func (r *record) last() int64 {
	if r.phase.Live() {
		return r.end
	}
	return min(r.end, r.ended)
}

// clearAt returns the instant from which a record says nothing about the
// present any more.
func (r *record) clearAt() int64 {
	at := r.ended
	if r.phase.Live() {
		at = r.end
	}
	for i := range r.lines {
		if r.occupies(&r.lines[i]) {
			at = max(at, r.lines[i].to)
		}
	}
	return at
}

// change returns a copy of r for a change; its lines are copied, too.
func (r *record) change() *record {
	c := *r
	c.lines = slices.Clone(r.lines)
	return &c
}

// line returns the line of a pool, or nil.
func (r *record) line(pool string) *line {
	for i := range r.lines {
		if r.lines[i].pool == pool {
			return &r.lines[i]
		}
	}
	return nil
}

// lineNear returns the line of a pool, or the first one: a node may have changed
// its pool since the booking got it.
func (r *record) lineNear(pool string) *line {
	if l := r.line(pool); l != nil {
		return l
	}
	return &r.lines[0]
}

// clearing is an item of the index of records that are over.
type clearing struct {
	at int64
	id string
}

// Kinds of due items. At one instant they come in this order: expiries, ends,
// capacity changes, plans, notices, then begins.
const (
	dueExpiry = iota
	dueYield  // the owner gets its nodes back
	dueEnd    // of the window, or of the grace
	dueNoShow // nobody has checked in
	dueOutage // the end of one
	dueNear   // the lead of a floating line begins
	dueNotice // id is a node
	dueOpen   // the envelope of a line begins
	dueStart
	dueLapse // id is a waiting entry
)

// due is what changes by itself next: of a booking, an outage or a node.
type due struct {
	at      int64
	kind    uint8
	line    uint8 // of dueNear and dueOpen
	created int64 // of the booking; who came first is served first
	id      string
}

// span is one line in the overlap index. Spans are grouped by the bit length
// of their duration, so a range is searched with one seek per length in use.
type span struct {
	pool     string
	class    uint8
	from, to int64
	id       string
}

// float is a floating line. Who begins first is served first, then who was
// made first.
type float struct {
	pool          string
	from, created int64
	id            string
}

// ready is when a node is free for good, as far as its seats say.
type ready struct {
	pool    string
	standby bool
	last    int64
	ord     int // counted down: among equals the first of the pool comes last
	node    string
}

type deadSeat struct{ pool, node string }

// slot is a node's range that id takes.
type slot struct {
	node     string
	from, to int64
	id       string
}

type fix struct {
	pool string
	from int64
	node string
	id   string
}

func newState() state {
	return state{
		pools:   newDirectory[*pool](),
		nodes:   cow.NewSorted(func(a, b node) bool { return a.name < b.name }),
		outages: newDirectory[*outage](),
		recs:    newDirectory[*record](),
		live:    cow.NewSorted(func(a, b *record) bool { return a.start < b.start || a.start == b.start && a.id < b.id }),
		final:   cow.NewSorted(func(a, b clearing) bool { return a.at < b.at || a.at == b.at && a.id < b.id }),
		due:     cow.NewSorted(due.less),
		spans:   cow.NewSorted(span.less),
		full:    cow.NewSorted(float.less),
		planned: cow.NewSorted(float.less),
		needy:   cow.NewSorted(float.less),
		short:   cow.NewSorted(float.less),
		seats:   cow.NewSorted(slot.less),
		plans:   cow.NewSorted(slot.less),
		told:    cow.NewSorted(slot.less),
		outs:    cow.NewSorted(slot.less),
		fixed:   cow.NewSorted(fix.less),
		ready:   cow.NewSorted(ready.less),
		dead:    cow.NewSorted(deadSeat.less),
		drains:  cow.NewSorted(slot.less),
		series:  newDirectory[*SeriesStatus](),
		occs:    cow.NewSorted(occurrence.less),
		waits:   cow.NewSorted((*Waiter).less),
		waitIDs: newDirectory[*Waiter](),
		cells:   cow.NewSorted(cellUse.less),
	}
}

func (a due) less(b due) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	if a.created != b.created {
		return a.created < b.created
	}
	if a.id != b.id {
		return a.id < b.id
	}
	return a.line < b.line
}

func (a span) less(b span) bool {
	if c := strings.Compare(a.pool, b.pool); c != 0 {
		return c < 0
	}
	if a.class != b.class {
		return a.class < b.class
	}
	if a.from != b.from {
		return a.from < b.from
	}
	return a.id < b.id
}

func (a float) less(b float) bool {
	if c := strings.Compare(a.pool, b.pool); c != 0 {
		return c < 0
	}
	if a.from != b.from {
		return a.from < b.from
	}
	if a.created != b.created {
		return a.created < b.created
	}
	return a.id < b.id
}

func (a ready) less(b ready) bool {
	if c := strings.Compare(a.pool, b.pool); c != 0 {
		return c < 0
	}
	if a.standby != b.standby {
		return b.standby
	}
	if a.last != b.last {
		return a.last < b.last
	}
	if a.ord != b.ord {
		return a.ord > b.ord
	}
	return a.node < b.node
}

func (a deadSeat) less(b deadSeat) bool {
	if c := strings.Compare(a.pool, b.pool); c != 0 {
		return c < 0
	}
	return a.node < b.node
}

func (a slot) compare(b slot) int {
	return cmp.Or(strings.Compare(a.node, b.node), cmp.Compare(a.from, b.from), strings.Compare(a.id, b.id))
}

func (a slot) less(b slot) bool {
	if c := strings.Compare(a.node, b.node); c != 0 {
		return c < 0
	}
	if a.from != b.from {
		return a.from < b.from
	}
	return a.id < b.id
}

func (a fix) less(b fix) bool {
	if c := strings.Compare(a.pool, b.pool); c != 0 {
		return c < 0
	}
	if a.from != b.from {
		return a.from < b.from
	}
	if c := strings.Compare(a.node, b.node); c != 0 {
		return c < 0
	}
	return a.id < b.id
}

// byStart orders records by start and id.
func byStart(a, b *record) int {
	return cmp.Or(cmp.Compare(a.start, b.start), strings.Compare(a.id, b.id))
}

func (s *state) pool(name string) *pool { return s.pools.Find(name) }

func (s *state) node(name string) (node, bool) { return s.nodes.Find(node{name: name}) }

func (s *state) rec(id string) *record { return s.recs.Find(id) }

func (s *state) outage(id string) *outage { return s.outages.Find(id) }

func lengthClass(from, to int64) uint8 { return uint8(bits.Len64(uint64(to - from))) }
