// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/berth-gpu/berth/internal/cow"
	"github.com/berth-gpu/berth/internal/engine"
	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
)

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 1

// notice is a node whose Standby claim was told to leave.
type notice struct{ node, by string }

// snapshot is what a Calendar encodes, in one order for each content.
type snapshot struct {
	start, now int64
	pools      []Pool    // by name
	outages    []Outage  // by id
	recs       []*record // by id
	notices    []notice  // by node
	bypass     int64
	waitSeq    uint64
	series     []SeriesStatus // by id
	waits      []Waiter       // in the order in which they are served
}

func (c *coder) snapshot(v *snapshot) {
	c.instant(&v.start)
	c.instant(&v.now)
	list(c, &v.pools, 33, c.pool)
	list(c, &v.outages, 8, c.outage)
	list(c, &v.recs, 25, c.record)
	list(c, &v.notices, 2, func(n *notice) {
		c.str(&n.node)
		c.str(&n.by)
	})
	c.int(&v.bypass)
	c.uint(&v.waitSeq)
	list(c, &v.series, 14, c.seriesStatus)
	list(c, &v.waits, 14, c.waiter)
}

func (c *coder) record(p **record) {
	if c.r != nil {
		*p = &record{}
	}
	v := *p
	c.str(&v.id)
	c.str(&v.owner)
	c.str(&v.note)
	c.class(&v.class)
	c.phase(&v.phase)
	c.bool(&v.held)
	c.instant(&v.start)
	c.until(&v.end)
	c.instant(&v.created)
	if v.held {
		c.instant(&v.expires)
	}
	if !v.phase.Live() {
		c.instant(&v.ended)
	}
	c.uint(&v.version)
	c.origin(&v.origin)
	c.seconds(&v.show)
	c.bool(&v.shown)
	c.int(&v.yield)
	c.str(&v.split)
	c.str(&v.into)
	c.str(&v.after)
	c.str(&v.before)
	list(c, &v.lines, 12, c.line)
	c.str(&v.series)
	if v.series != "" {
		c.int(&v.index)
		c.int(&v.shift)
		c.bool(&v.detached)
	}
}

func (c *coder) origin(v **origin) {
	some := *v != nil
	if c.bool(&some); !some {
		return
	}
	if c.r != nil {
		*v = &origin{}
	}
	o := *v
	c.str(&o.owner)
	c.instant(&o.start)
	c.until(&o.end)
	list(c, &o.lines, 4, c.requestLine)
}

func (c *coder) line(v *line) {
	c.str(&v.pool)
	c.int(&v.count)
	c.names(&v.pinned)
	c.instant(&v.from)
	c.until(&v.to)
	c.seconds(&v.cleanup)
	c.seconds(&v.lead)
	c.bool(&v.near)
	c.bool(&v.open)
	c.names(&v.seats)
	list(c, &v.late, 2, func(x *late) {
		c.str(&x.node)
		c.instant(&x.since)
	})
	c.names(&v.plan)
	c.str(&v.within)
}

// AppendBinary appends the snapshot: all that the calendar knows, apart from
// the pending events. Equal calendars have equal bytes.
func (c *Calendar) AppendBinary(b []byte) ([]byte, error) {
	s := &c.core.S
	v := snapshot{start: s.start, now: s.now, recs: slices.Collect(s.recs.All())}
	for p := range s.pools.All() {
		v.pools = append(v.pools, p.Pool)
	}
	for o := range s.outages.All() {
		v.outages = append(v.outages, Outage{o.id, o.owner, o.reason, o.nodes, windowOf(o.from, o.to), o.mode()})
	}
	for n := range s.nodes.All() {
		if n.notice != "" {
			v.notices = append(v.notices, notice{n.name, n.notice})
		}
	}
	v.bypass, v.waitSeq = s.bypass, s.waitSeq
	for x := range s.series.All() {
		v.series = append(v.series, *x)
	}
	for x := range s.waits.All() {
		v.waits = append(v.waits, *x)
	}
	w := coder{b: append(b, snapshotVersion)}
	w.snapshot(&v)
	return w.b, w.err
}

// MarshalBinary returns the snapshot.
func (c *Calendar) MarshalBinary() ([]byte, error) { return c.AppendBinary(nil) }

// Restore reads a snapshot. It accepts only what a calendar has written, checks
// all of it, and costs O(n log n) for n bookings.
//
// Possible errors: [ErrCorrupt].
func Restore(b []byte) (*Calendar, error) {
	c, err := restore(b)
	if err != nil {
		return nil, fmt.Errorf("%w: snapshot: %w", ErrCorrupt, err)
	}
	again, err := c.AppendBinary(make([]byte, 0, len(b)))
	if err != nil || !bytes.Equal(again, b) {
		return nil, fmt.Errorf("%w: snapshot: it is not in its one form", ErrCorrupt)
	}
	return c, nil
}

func restore(b []byte) (*Calendar, error) {
	r := wire.NewReader(b)
	if v := r.Byte(); r.Err() == nil && v != snapshotVersion {
		return nil, fmt.Errorf("version %d is unknown; a newer release may have written it", v)
	}
	var v snapshot
	(&coder{r: r}).snapshot(&v)
	if err := r.Done(); err != nil {
		return nil, err
	}
	if v.now < v.start {
		return nil, fmt.Errorf("the present is before the start")
	}
	c := &Calendar{core: engine.Core[state, Event]{S: newState()}}
	s, tok := &c.core.S, c.core.Token()
	s.start, s.now = v.start, v.now
	for i, p := range v.pools {
		if i > 0 && v.pools[i-1].Name >= p.Name {
			return nil, fmt.Errorf("pool %q is out of order", p.Name)
		}
		do, err := (PoolSet{Pool: p}).prepare(s)
		if err != nil {
			return nil, err
		}
		do(tok)
	}
	for i, r := range v.recs {
		if i > 0 && v.recs[i-1].id >= r.id {
			return nil, fmt.Errorf("booking %q is out of order", r.id)
		}
		if err := s.checkRecord(r); err != nil {
			return nil, err
		}
	}
	if err := s.fillRecords(tok, v.recs, func() error { return s.restoreOutages(tok, v.outages) }); err != nil {
		return nil, err
	}
	for _, r := range v.recs {
		if err := s.checkChain(r); err != nil {
			return nil, err
		}
	}
	for i, x := range v.notices {
		n, ok := s.node(x.node)
		next, some := s.reclaimer(x.node, s.now)
		if !ok || n.standby == "" || !some || next.id != x.by || i > 0 && v.notices[i-1].node >= x.node {
			return nil, fmt.Errorf("notice for node %q and booking %q", x.node, x.by)
		}
		was := n
		n.notice, n.noticeBy, n.reclaimAt = x.by, next.from, none
		s.setNode(tok, &was, n)
	}
	if err := s.restoreSeries(tok, v.series); err != nil {
		return nil, err
	}
	return c, s.restoreWaits(tok, &v)
}

func (s *state) restoreOutages(tok *cow.Token, list []Outage) error {
	for i, o := range list {
		if i > 0 && list[i-1].ID >= o.ID {
			return fmt.Errorf("outage %q is out of order", o.ID)
		}
		x, err := outageOf(o)
		if err != nil {
			return err
		}
		if x.to < s.now {
			return fmt.Errorf("outage %q should have ended", x.id)
		}
		s.swapOutage(tok, nil, x)
	}
	return nil
}

// checkRecord checks a decoded record by itself and against the pools. Whether
// records agree with each other is for [state.fillRecords].
func (s *state) checkRecord(r *record) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("booking %q: %s", r.id, fmt.Sprintf(format, args...))
	}
	if len(r.lines) == 0 {
		return bad("no lines")
	}
	q, err := r.request().normal()
	if err == nil && r.origin != nil {
		_, err = r.original().normal()
	}
	if err != nil {
		return err
	}
	if !q.equal(r.request()) {
		return bad("its request is not in its normal form")
	}
	if err := r.checkShape(); err != nil {
		return err
	}
	if r.series != "" {
		if err := r.checkOccurrence(); err != nil {
			return err
		}
	}
	if r.version == 0 || r.created > s.now || r.created < s.start {
		return bad("version %d, created at %s", r.version, tick.Time(r.created))
	}
	if r.held && r.expires < r.created || !r.phase.Live() && (r.ended > s.now || r.ended < r.created) {
		return bad("it expired or ended before it was made, or after the present")
	}
	if r.class == Standby && (r.phase == Held || r.phase == Expired || r.phase == Grace) {
		return bad("a %s booking is never %s", r.class, r.phase)
	}
	if r.phase == Held && r.expires < s.now || r.phase == Active && r.end < s.now || r.phase == Grace && r.graceEnd() < s.now {
		return bad("it is still %s", r.phase)
	}
	if (r.phase == Active || r.phase == Grace) && r.start > s.now || r.phase == Grace && r.end > s.now {
		return bad("it is %s too early", r.phase)
	}
	if r.show > lastTick || r.shown && (r.class != Firm || r.phase == Held || r.phase == NoShow) || r.phase == NoShow && r.show == 0 ||
		r.phase == Active && r.show > 0 && !r.shown && r.start+r.show < s.now {
		return bad("checked in is %t after %d seconds", r.shown, r.show)
	}
	if r.yield != none && (r.phase != Active || r.class != Firm || r.yield < s.now || r.yield > r.end) {
		return bad("yielded until %d", r.yield)
	}
	if (r.into != "") != (r.phase == Merged) {
		return bad("it is %s into %q", r.phase, r.into)
	}
	for _, id := range []string{r.split, r.into, r.after, r.before} {
		if id != "" && checkID("id", id) != nil {
			return checkID("id", id)
		}
	}
	for i := range r.lines {
		if err := s.checkLine(r, &r.lines[i]); err != nil {
			return bad("pool %q: %v", r.lines[i].pool, err)
		}
	}
	return nil
}

func (s *state) checkLine(r *record, l *line) error {
	p := s.pool(l.pool)
	if p == nil {
		return unknown("pool", l.pool)
	}
	live := r.phase.Live()
	if l.to < l.from || l.count > maxSum-p.sum {
		return fmt.Errorf("%d nodes in %s", l.count, windowOf(l.from, l.to))
	}
	if live && r.class == Firm && (l.open && l.from > s.now || !l.open && (l.from < s.now || r.phase >= Active)) {
		return fmt.Errorf("open is %t", l.open)
	}
	if r.class == Firm && (r.phase == Ended || r.phase == NoShow) && !l.open {
		return fmt.Errorf("it ended without having begun")
	}
	if len(l.seats) > 0 && (!live && !r.phase.cleans() || r.class == Standby && r.phase != Active) {
		return fmt.Errorf("a %s %s booking has no seats", r.phase, r.class)
	}
	if int64(len(l.seats)) > l.count && (r.class == Firm || l.count > 0) {
		return fmt.Errorf("%d seats for %d nodes", len(l.seats), l.count)
	}
	if err := s.checkWithin(r, l); err != nil {
		return err
	}
	if l.near && (!r.floating(l) || l.from-l.lead > s.now) {
		return fmt.Errorf("near is true")
	}
	if len(l.late) > 0 && !l.open {
		return fmt.Errorf("late seats before the envelope")
	}
	for i, x := range l.late {
		if i > 0 && l.late[i-1].node >= x.node || x.since <= l.from || x.since > s.now || !slices.Contains(l.seats, x.node) {
			return fmt.Errorf("late seat %q", x.node)
		}
	}
	for i, name := range l.seats {
		n, ok := s.node(name)
		switch {
		case i > 0 && l.seats[i-1] >= name:
			return fmt.Errorf("seat %q is out of order", name)
		case live && (!ok || n.pool != l.pool):
			return unknown("node", name)
		case !live && checkID("seat", name) != nil:
			return checkID("seat", name)
		}
		if r.class == Standby {
			if live && n.standby != "" {
				return fmt.Errorf("node %q has two Standby claims", name)
			}
			if id, busy := s.otherSeat(name, s.now, s.now+1, r.id); live && busy && s.rec(id).opened(name) && s.rec(id).yield == none {
				return fmt.Errorf("node %q has a Standby claim and Firm booking %q", name, id)
			}
			continue
		}
		if !r.occupies(l) || l.seatFrom(name) >= l.to {
			continue
		}
		if id, busy := s.otherSeat(name, l.seatFrom(name), l.to, r.id); busy {
			return fmt.Errorf("node %q has booking %q, too", name, id)
		}
		if ok && n.standby != "" && l.open && live && l.to > s.now && r.yield == none {
			return fmt.Errorf("node %q has Standby claim %q, too", name, n.standby)
		}
	}
	return nil
}

// opened reports whether the live line that has the node has begun.
func (r *record) opened(name string) bool {
	for i := range r.lines {
		if slices.Contains(r.lines[i].seats, name) {
			return r.lines[i].open && r.phase.Live()
		}
	}
	return false
}

func (s *state) checkPlan(r *record, l *line) error {
	if !r.floating(l) || int64(len(l.plan)) > l.count || l.from >= s.lastFixed(l.pool) && !l.near {
		return fmt.Errorf("booking %q has a plan in pool %q without need", r.id, l.pool)
	}
	if err := s.nodesOf(l.pool, l.plan); err != nil {
		return err
	}
	for _, name := range l.plan {
		if n, _ := s.node(name); n.spare || !s.free(name, l.from, l.to, r.id, true) {
			return fmt.Errorf("booking %q is planned on node %q, which is not free", r.id, name)
		}
	}
	return nil
}
