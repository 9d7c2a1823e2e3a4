// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/berth-gpu/berth/internal/step"
	"github.com/berth-gpu/berth/internal/tick"
)

// A Kind says which limit blocks. In JSON a Kind is its name.
//
// A Kind is immutable and safe for concurrent use.
type Kind uint8

const (
	// Cap: the raw usage of the subtree would pass its cap. Raise Limit.Cap.
	Cap Kind = iota + 1
	// BorrowLimit: the subtree would take more from its parent than it may.
	// Raise Limit.Borrow.
	BorrowLimit
	// RootQuota: the whole tree has no more. Raise Limit.Nominal of the root.
	RootQuota
	// GuaranteedOverNominal: Guaranteed charges would rely on what others lend.
	// Raise Limit.Borrow, or Limit.Nominal at a root.
	GuaranteedOverNominal
)

var kindNames = [...]string{Cap: "cap", BorrowLimit: "borrow-limit", RootQuota: "root-quota",
	GuaranteedOverNominal: "guaranteed-over-nominal"}

// String returns the name in lower case with hyphens.
func (k Kind) String() string { return name(kindNames[:], "Kind", uint8(k)) }

// MarshalText returns the name.
func (k Kind) MarshalText() ([]byte, error) { return marshalName(kindNames[:], "Kind", uint8(k)) }

// UnmarshalText reads the name.
func (k *Kind) UnmarshalText(p []byte) error {
	n, err := unmarshalName(kindNames[:], "Kind", p)
	*k = Kind(n)
	return err
}

// A Blocker is one limit that a request would pass. All quantities are in the
// unit of the key.
//
// A Blocker is immutable and safe for concurrent use.
type Blocker struct {
	Tenant string `json:"tenant"` // whose limit it is; "" in a view for others
	Key    Key    `json:"key"`
	Kind   Kind   `json:"kind"`
	// At is the first interval over which the limit falls short.
	At Window `json:"at"`
	// Peak is the first instant at which it falls short by most. Used is what
	// the limit counts then, Need what the request adds.
	Peak    time.Time `json:"peak"`
	Limit   int64     `json:"limit"`
	Used    int64     `json:"used"`
	Need    int64     `json:"need"`
	Deficit int64     `json:"deficit"` // Used + Need − Limit > 0: raise the limit by this
}

// An ExceededError is a refusal: every limit that would have to be higher. With
// each raised by its deficit the request is admitted; with any one left out it
// is not. (Two blockers that name the same field of the same tenant and key are
// one limit: raise it by the greater deficit.)
//
// An ExceededError may be read by many goroutines while nobody changes it.
type ExceededError struct {
	ID     string   `json:"id"`
	Tenant string   `json:"tenant"`
	Path   []string `json:"path"` // from the root down to Tenant
	// Blockers is sorted by key, then from Tenant up to the root, then by kind.
	Blockers []Blocker `json:"blockers"`
}

// Error names the first three blockers and what would help.
func (e *ExceededError) Error() string {
	var b strings.Builder
	b.WriteString(ErrExceeded.Error())
	if e.ID != "" {
		fmt.Fprintf(&b, ": charge %q", e.ID)
	}
	if e.Tenant != "" {
		fmt.Fprintf(&b, " of tenant %q", e.Tenant)
	}
	for i, x := range e.Blockers {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Blockers)-i)
			break
		}
		sep, who := ";", "other tenants"
		if i == 0 {
			sep = ":"
		}
		if x.Tenant != "" {
			who = fmt.Sprintf("%q", x.Tenant)
		}
		fmt.Fprintf(&b, "%s %s of %s for %s: limit %d, used %d, need %d, %d too many in %s",
			sep, x.Kind, who, x.Key, x.Limit, x.Used, x.Need, x.Deficit, x.At)
	}
	b.WriteString("; ask for less, for another window, or have these limits raised")
	return b.String()
}

// Is reports whether target is ErrExceeded.
func (e *ExceededError) Is(target error) bool { return target == ErrExceeded }

// For returns the refusal as the viewer may see it. A viewer on the path from
// the root to the requester (the requester itself, its team, its organisation)
// sees its own subtree and its own ancestors: everything. For everybody else
// ids and names are left out, and the blockers of a key and kind are summed.
func (e *ExceededError) For(viewer string) *ExceededError {
	if slices.Contains(e.Path, viewer) {
		c := *e
		c.Path, c.Blockers = slices.Clone(e.Path), slices.Clone(e.Blockers)
		return &c
	}
	out := &ExceededError{}
	for _, b := range e.Blockers {
		b.Tenant = ""
		i := slices.IndexFunc(out.Blockers, func(x Blocker) bool { return x.Key == b.Key && x.Kind == b.Kind })
		if i < 0 {
			out.Blockers = append(out.Blockers, b)
			continue
		}
		x := &out.Blockers[i]
		if b.At.Start.Before(x.At.Start) {
			x.At.Start = b.At.Start
		}
		if b.At.End.IsZero() || !x.At.End.IsZero() && b.At.End.After(x.At.End) {
			x.At.End = b.At.End
		}
		if b.Peak.Before(x.Peak) {
			x.Peak = b.Peak
		}
		x.Limit, x.Used = capped(x.Limit, b.Limit), capped(x.Used, b.Used)
		x.Need, x.Deficit = capped(x.Need, b.Need), capped(x.Deficit, b.Deficit)
	}
	slices.SortFunc(out.Blockers, func(a, b Blocker) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// capped adds two numbers ≥ 0 and stays at the greatest int64.
func capped(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// short finds where and by how much limit falls short. It costs O(k) for k
// steps of tr under in.
func short(tr *step.Tree, in []segment, limit int64) Blocker {
	b := Blocker{Limit: limit}
	from, to := int64(tick.Forever), int64(tick.Forever)
	for _, g := range in {
		if g.d <= 0 {
			continue
		}
		for st := range tr.Steps(g.from, g.to) {
			d := st.Level + g.d - limit
			if d <= 0 {
				continue
			}
			if from == tick.Forever {
				from, to = st.From, st.To
			} else if st.From == to {
				to = st.To
			}
			if d > b.Deficit {
				b.Peak, b.Used, b.Need, b.Deficit = tick.Time(st.From), st.Level, g.d, d
			}
		}
	}
	b.At = window(from, to)
	return b
}
