// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/google/btree"
)

// An Event is a decided fact about one job: its whole new record.
type Event struct {
	Kind string `json:"kind"` // submitted, started, requeued, ended, cancelled, forgotten
	Job  *Job   `json:"job"`
}

// A Queue holds all jobs.
//
// A Queue may be read by many goroutines while nobody changes it; Fork is safe
// whenever reading is.
type Queue struct {
	all     *btree.BTreeG[*Job] // by id
	waiting *btree.BTreeG[*Job] // Queued, by time of submission, then id
	running *btree.BTreeG[*Job] // Running, by id
	mu      *sync.Mutex         // btree's Clone writes to the tree it clones
	events  []Event
}

func byID(a, b *Job) bool { return a.ID < b.ID }

func byAge(a, b *Job) bool {
	if !a.Submitted.Equal(b.Submitted) {
		return a.Submitted.Before(b.Submitted)
	}
	return a.ID < b.ID
}

// New returns an empty queue.
func New() *Queue {
	return &Queue{all: btree.NewG(32, byID), waiting: btree.NewG(32, byAge), running: btree.NewG(32, byID), mu: new(sync.Mutex)}
}

// Fork returns an independent copy in constant time, with no events.
func (q *Queue) Fork() *Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	return &Queue{all: q.all.Clone(), waiting: q.waiting.Clone(), running: q.running.Clone(), mu: new(sync.Mutex)}
}

// Events returns what was decided since the fork.
func (q *Queue) Events() []Event { return q.events }

// Find returns the job with the given id.
func (q *Queue) Find(id string) (*Job, bool) { return q.all.Get(&Job{ID: id}) }

// All yields every job by id.
func (q *Queue) All() iter.Seq[*Job] { return each(q.all) }

// Waiting yields the queued jobs, oldest first.
func (q *Queue) Waiting() iter.Seq[*Job] { return each(q.waiting) }

// Running yields the running jobs by id.
func (q *Queue) Running() iter.Seq[*Job] { return each(q.running) }

func each(t *btree.BTreeG[*Job]) iter.Seq[*Job] {
	return func(yield func(*Job) bool) { t.Ascend(yield) }
}

// Counts returns how many jobs are known, waiting and running.
func (q *Queue) Counts() (all, waiting, running int) {
	return q.all.Len(), q.waiting.Len(), q.running.Len()
}

// Submit adds a job. Repeated with the same body it changes nothing.
func (q *Queue) Submit(at time.Time, j Job) (*Job, error) {
	j.Phase, j.Submitted = Queued, at.UTC().Truncate(time.Second)
	if len(j.Models) == 0 {
		j.Models = nil
	}
	if err := j.Validate(); err != nil {
		return nil, err
	}
	if old, ok := q.Find(j.ID); ok {
		if old.same(&j) {
			return old, nil
		}
		return nil, fmt.Errorf("%w: %q: choose another id", ErrExists, j.ID)
	}
	return q.decide("submitted", j), nil
}

// Start notes that a queued job runs.
func (q *Queue) Start(at time.Time, id, claim, key string) (*Job, error) {
	return q.change(id, "started", Queued, func(j *Job) {
		j.Phase, j.Started, j.Claim, j.Key = Running, at.UTC().Truncate(time.Second), claim, key
	})
}

// Requeue notes that a running job was preempted and waits again.
func (q *Queue) Requeue(id, why string) (*Job, error) {
	return q.change(id, "requeued", Running, func(j *Job) {
		j.Phase, j.Started, j.Claim, j.Key, j.Why = Queued, time.Time{}, "", "", why
		j.Preemptions++
	})
}

// End notes that a running job is done.
func (q *Queue) End(at time.Time, id string) (*Job, error) {
	return q.change(id, "ended", Running, func(j *Job) {
		j.Phase, j.Ended = Ended, at.UTC().Truncate(time.Second)
	})
}

// Cancel notes that a queued or running job was given up.
func (q *Queue) Cancel(at time.Time, id, why string) (*Job, error) {
	return q.change(id, "cancelled", "", func(j *Job) {
		j.Phase, j.Ended, j.Why = Cancelled, at.UTC().Truncate(time.Second), why
	})
}

// Forget drops a job that is over.
func (q *Queue) Forget(id string) error {
	j, ok := q.Find(id)
	switch {
	case !ok:
		return nil
	case j.Phase == Queued || j.Phase == Running:
		return fmt.Errorf("%w: job %q is %s", ErrState, id, j.Phase)
	}
	q.decide("forgotten", *j)
	return nil
}

func (q *Queue) change(id, kind string, from Phase, f func(*Job)) (*Job, error) {
	old, ok := q.Find(id)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, id)
	}
	if from != "" && old.Phase != from || old.Phase == Ended || old.Phase == Cancelled {
		return nil, fmt.Errorf("%w: job %q is %s, it cannot be %s", ErrState, id, old.Phase, kind)
	}
	j := *old
	f(&j)
	return q.decide(kind, j), nil
}

func (q *Queue) decide(kind string, j Job) *Job {
	e := Event{Kind: kind, Job: &j}
	q.put(e)
	q.events = append(q.events, e)
	return &j
}

func (q *Queue) put(e Event) {
	if old, ok := q.Find(e.Job.ID); ok {
		q.waiting.Delete(old)
		q.running.Delete(old)
	}
	if e.Kind == "forgotten" {
		q.all.Delete(e.Job)
		return
	}
	q.all.ReplaceOrInsert(e.Job)
	switch e.Job.Phase {
	case Queued:
		q.waiting.ReplaceOrInsert(e.Job)
	case Running:
		q.running.ReplaceOrInsert(e.Job)
	}
}

// Apply takes over a decided event.
func (q *Queue) Apply(e Event) error {
	if e.Job == nil {
		return fmt.Errorf("%w: event %q without a job", ErrInvalid, e.Kind)
	}
	switch e.Kind {
	case "submitted", "started", "requeued", "ended", "cancelled", "forgotten":
	default:
		return fmt.Errorf("%w: event kind %q", ErrInvalid, e.Kind)
	}
	if _, known := q.Find(e.Job.ID); known == (e.Kind == "submitted") {
		return fmt.Errorf("%w: event %q of job %q contradicts the queue", ErrState, e.Kind, e.Job.ID)
	}
	q.put(e)
	return nil
}

// MarshalJSON encodes all jobs by id: the snapshot.
func (q *Queue) MarshalJSON() ([]byte, error) {
	list := make([]*Job, 0, q.all.Len())
	for j := range q.All() {
		list = append(list, j)
	}
	return json.Marshal(list)
}

// Restore reads what MarshalJSON wrote.
func Restore(b []byte) (*Queue, error) {
	var list []*Job
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("jobs: snapshot: %w", err)
	}
	q := New()
	for i, j := range list {
		if j == nil || i > 0 && j.ID <= list[i-1].ID {
			return nil, fmt.Errorf("%w: snapshot item %d is out of order", ErrInvalid, i)
		}
		q.put(Event{Kind: "submitted", Job: j})
	}
	return q, nil
}
