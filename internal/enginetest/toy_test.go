// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A toy is the smallest engine that the suite can judge: amounts under ids, each
// until an instant. It is sound unless it has a fault, which its forks share.
type toy struct {
	now, sum int64
	items    map[string]item
	events   []event
	fault    string
	commands int // since New, Restore or Fork's base: never encoded
}

type item struct{ n, due int64 }

// An event puts an item, takes one away ("drop", "gone"), or corrects the sum.
type event struct {
	kind  string
	at    int64
	id    string
	n     int64
	due   int64
	fault string // of the toy that decided it
}

func (e event) Kind() string { return e.kind }

func (e event) AppendBinary(b []byte) ([]byte, error) {
	return fmt.Appendf(b, "%s %d %q %d %d.", e.kind, e.at, e.id, e.n, e.due), nil
}

func decoder(fault string) func([]byte) (event, error) {
	return func(b []byte) (event, error) {
		e := event{fault: fault}
		_, err := fmt.Sscanf(strings.TrimSuffix(string(b), "."), "%s %d %q %d %d", &e.kind, &e.at, &e.id, &e.n, &e.due)
		if same, _ := e.AppendBinary(nil); err == nil && string(same) != string(b) &&
			!(fault == "E6 cut event" && strings.HasPrefix(string(same), string(b))) &&
			!(fault == "E6 damaged event" && strings.HasSuffix(string(b), ".")) {
			err = errors.New("not canonical")
		}
		return e, err
	}
}

func newToy(fault string) *toy {
	return &toy{now: Start.Unix(), items: map[string]item{}, fault: fault}
}

func (t *toy) AppendBinary(b []byte) ([]byte, error) {
	b = fmt.Appendf(b, "%d", t.now)
	for _, id := range slices.Sorted(maps.Keys(t.items)) {
		b = fmt.Appendf(b, ";%s,%d,%d", id, t.items[id].n, t.items[id].due)
	}
	return append(b, '.'), nil
}

func restorer(fault string) func([]byte) (*toy, error) {
	return func(b []byte) (*toy, error) {
		t := newToy(fault)
		text, _, _ := strings.Cut(string(b), ".")
		now, rest, some := strings.Cut(text, ";")
		_, err := fmt.Sscan(now, &t.now)
		for some && err == nil {
			var one, id string
			var it item
			one, rest, some = strings.Cut(rest, ";")
			if parts := strings.Split(one, ","); len(parts) == 3 {
				id = parts[0]
				_, err = fmt.Sscan(parts[1]+" "+parts[2], &it.n, &it.due)
			}
			t.items[id] = it
			t.sum += it.n
		}
		same, _ := t.AppendBinary(nil)
		switch forgiven := map[string]bool{
			"E6 cut snapshot":     len(b) < len(same),
			"E6 longer snapshot":  len(b) > len(same),
			"E6 damaged snapshot": len(b) == len(same),
		}; {
		case string(same) != string(b) && !forgiven[fault]:
			err = errors.Join(err, errors.New("not canonical"))
		case fault == "E6 cut snapshot":
			err = nil
		}
		return t, err
	}
}

func (t *toy) Fork() *toy {
	f := *t
	f.events = nil
	if t.fault != "E3 shared items" {
		f.items = maps.Clone(t.items)
	}
	return &f
}

func (t *toy) Events() []event { return t.events }

// first gives the item that is due first.
func (t *toy) first() (string, bool) {
	ids := slices.SortedFunc(maps.Keys(t.items), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.items[a].due, t.items[b].due), cmp.Compare(a, b))
	})
	return append(ids, "")[0], len(ids) > 0
}

func (t *toy) Next() (time.Time, bool) {
	id, ok := t.first()
	due := t.items[id].due
	switch t.fault {
	case "E5 Next is late":
		due += 3600
	case "E5 Next is early":
		due = min(due, max(due-60, t.now+1))
	}
	return time.Unix(due, 0).UTC(), ok
}

func (t *toy) Advance(at time.Time) {
	if t.fault == "E5 clock back" && at.Unix() < t.now {
		t.now = at.Unix()
	}
	for id, ok := t.first(); ok && t.items[id].due <= at.Unix(); id, ok = t.first() {
		e := event{kind: "gone", at: t.items[id].due, id: id}
		if t.fault == "E5 late stamp" {
			e.at = max(t.now, at.Unix())
		}
		t.decide(e)
	}
}

func (t *toy) decide(e event) {
	t.enact(e)
	t.events = append(t.events, e)
}

// enact changes the state as the event says.
func (t *toy) enact(e event) {
	t.now = e.at
	switch e.kind {
	case "put":
		t.items[e.id] = item{e.n, e.due}
		if t.fault != "E7 half an event" {
			t.sum += e.n
		}
	case "sum":
		t.sum += e.n
	default:
		t.sum -= t.items[e.id].n
		delete(t.items, e.id)
	}
}

func (t *toy) Apply(e event) error {
	err := t.contradiction(e)
	if err != nil && t.fault == "E2 refused event" {
		t.now++
	}
	if err != nil {
		return err
	}
	if t.fault == "E1 replay" && e.kind == "put" {
		e.n++
	}
	t.enact(e)
	return nil
}

func (t *toy) contradiction(e event) error {
	id, ok := t.first()
	due := t.items[id].due
	_, have := t.items[e.id]
	switch {
	case e.at < t.now, ok && due <= e.at && t.fault != "E5 late stamp" && (e.kind != "gone" || e.id != id || e.at != due):
		return errors.New("out of order")
	case e.kind == "put" && !have && e.n > 0 && e.due > e.at, e.kind == "drop" && have, e.kind == "gone" && have && due <= e.at:
		return nil
	case e.kind == "sum" && t.fault == "E7 half an event":
		return nil
	}
	return errors.New("does not follow")
}

// chance is what no engine may look at: it is not the same twice.
var chance int64

// do draws a command and runs it.
func do(r *rand.Rand, t *toy, at time.Time) (string, error) {
	e := event{id: string(rune('a' + r.IntN(8))), n: int64(r.IntN(12)) - 1, kind: []string{"put", "put", "drop"}[r.IntN(3)]}
	ttl := int64(1 + r.IntN(3*24*3600))
	next := t.Fork()
	next.items, next.events = maps.Clone(t.items), slices.Clone(t.events)
	next.Advance(at)
	if e.at = max(at.Unix(), next.now); e.kind == "put" {
		e.due = e.at + ttl
	} else {
		e.n = 0
	}
	if t.fault == "E4 chance" && e.kind == "put" {
		chance++
		e.n += chance
	}
	t.commands++
	err := next.contradiction(e)
	if t.fault == "E1 hidden refusal" && t.commands%16 == 15 {
		err = errors.New("weary")
	}
	if err != nil {
		switch t.fault {
		case "E2 refused command":
			t.now++
		case "E2 event of a refused command":
			t.events = append(t.events, e)
		}
		return "", err
	}
	next.commands = t.commands
	next.decide(e)
	if t.fault == "E7 half an event" && e.kind == "put" {
		next.decide(event{kind: "sum", at: e.at, n: e.n})
	}
	if t.fault == "E3 shared items" { // in place, as an engine would that forgot to copy
		clear(t.items)
		maps.Copy(t.items, next.items)
		next.items = t.items
	}
	*t = *next
	return fmt.Sprint(e.kind, e.id, e.n, e.due), nil
}

// ask asks for one item and for the whole.
func ask(r *rand.Rand, t *toy) string {
	id := string(rune('a' + r.IntN(8)))
	next, ok := t.Next()
	out := fmt.Sprint(t.items[id], t.sum, len(t.items), next, ok)
	switch t.fault {
	case "E1 hidden answer":
		out += fmt.Sprint(t.commands)
	case "E1 late answer":
		out += fmt.Sprint(t.commands / 300)
	}
	return out
}

func (t *toy) check() error {
	var sum int64
	for id, it := range t.items {
		if sum += it.n; it.n <= 0 || id == "" {
			return fmt.Errorf("item %q of %d", id, it.n)
		}
	}
	if sum != t.sum {
		return fmt.Errorf("sum is %d, counted %d", t.sum, sum)
	}
	return nil
}
