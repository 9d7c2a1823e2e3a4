// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"slices"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Plan finds a place for every pod of a request as [Fleet.Place] would at that instant, and changes nothing. An instant
// before the present counts as it. The same state, instant and request give the same plan (A13).
// Pods of one group are equal, so for a request of one group it finds places whenever there are any, whatever the policy
// (A8); several groups are placed one after the other, the largest pods first, which can miss a mix that would fit.
// Asked for an id that is placed with the same body, it gives the plan that was committed.
// It costs O(nodes × groups) calls of the policy, and O(pods × log nodes).
//
// Possible errors: [ErrInvalid], [ErrUnknownNode], [ErrExists], [*UnplaceableError], [ErrPolicy].
func (f *Fleet) Plan(at time.Time, r Request) (Plan, error) { return f.plan(r, f.present(at)) }

func (f *Fleet) plan(r Request, at int64) (Plan, error) {
	r, p, err := f.admit(r)
	if err != nil {
		return Plan{}, err
	}
	if p != nil {
		return Plan{Request: p.Request, Assignments: copyAssignments(p.Assignments)}, nil
	}
	if err := r.begins(at); err != nil {
		return Plan{}, err
	}
	as, failed, err := f.newSearch(&r, at, relax{}).run()
	if err != nil {
		return Plan{}, err
	}
	if failed != nil {
		return Plan{}, f.unplaceable(&r, at)
	}
	return Plan{Request: r, Assignments: inOrder(as)}, nil
}

// admit checks the request and gives its canonical form, or the placement it has already got.
func (f *Fleet) admit(r Request) (Request, *Placement, error) {
	if err := r.check(); err != nil {
		return r, nil, err
	}
	r = r.canonical()
	if err := f.core.S.known(&r); err != nil {
		return r, nil, err
	}
	pl, ok := f.core.S.placed.Find(placed{id: r.ID})
	if !ok {
		return r, nil, nil
	}
	if !pl.p.Request.equal(r) {
		return r, nil, refuse(ErrExists, "ID", r.ID, "release it first, or use another id")
	}
	return r, pl.p, nil
}

// Commit makes a plan a placement, all of it or nothing (A5). The plan is checked by content, wherever it comes from: every
// node must still take its pods, and every GPU must still have the share. A placement that stands under the id for the same
// request is given as it is. It costs O(pods × log placements).
//
// Possible errors: [ErrInvalid], [ErrUnknownNode], [ErrExists], [ErrStale].
func (f *Fleet) Commit(at time.Time, plan Plan) (Placement, error) {
	r, p, err := f.admit(plan.Request)
	if err != nil {
		return Placement{}, err
	}
	if p != nil {
		return *p, nil
	}
	as := copyAssignments(plan.Assignments)
	now := f.present(at)
	// Judged before the event is made, since an event names nodes by id and so cannot say that an ordinal is unknown.
	if err := f.core.S.verify(&r, as, now); err != nil {
		return Placement{}, err
	}
	return f.commit(now, r, as)
}

func (f *Fleet) commit(now int64, r Request, as []Assignment) (Placement, error) {
	if err := f.decide(Placed{At: tick.Time(now), Request: r, Seats: f.core.S.seats(as)}); err != nil {
		return Placement{}, err
	}
	pl, _ := f.core.S.placed.Find(placed{id: r.ID})
	return *pl.p, nil
}

// Place is [Fleet.Plan] and [Fleet.Commit] in one command.
//
// Possible errors: [ErrInvalid], [ErrUnknownNode], [ErrExists], [*UnplaceableError], [ErrPolicy].
func (f *Fleet) Place(at time.Time, r Request) (Placement, error) {
	now := f.present(at)
	plan, err := f.plan(r, now)
	if err != nil {
		return Placement{}, err
	}
	if pl, ok := f.core.S.placed.Find(placed{id: plan.Request.ID}); ok {
		return *pl.p, nil
	}
	return f.commit(now, plan.Request, plan.Assignments)
}

// Release ends a placement; its id is free again. An id under which nothing is placed is no error and changes nothing.
// It costs O(pods × log placements).
//
// Possible errors: [ErrInvalid].
func (f *Fleet) Release(at time.Time, id string) error {
	if err := badText("ID", id, false); err != nil {
		return err
	}
	if _, ok := f.core.S.placed.Find(placed{id: id}); !ok {
		return nil
	}
	return f.decide(Released{At: tick.Time(f.present(at)), ID: id})
}

// inOrder sorts assignments by group and pod in place.
func inOrder(as []Assignment) []Assignment {
	slices.SortFunc(as, func(a, b Assignment) int {
		if a.Group != b.Group {
			return a.Group - b.Group
		}
		return a.Pod - b.Pod
	})
	return as
}
