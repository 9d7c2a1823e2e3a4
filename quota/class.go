// SPDX-License-Identifier: Apache-2.0

package quota

import "fmt"

// A Class says what a charge may rely on. The zero Class is invalid, so that
// nobody gets a class by forgetting it. In JSON a Class is its name.
//
// A Class is immutable and safe for concurrent use.
type Class uint8

const (
	// Guaranteed is never taken back. It must fit into what is recoverable if
	// nobody lends: the tenant's own nominal first, then the pools of its
	// ancestors within the borrow limits.
	Guaranteed Class = iota + 1
	// Preemptible may borrow what others do not use.
	Preemptible
	// Opportunistic may borrow like Preemptible and is the first to give back.
	Opportunistic
)

var classNames = [...]string{Guaranteed: "guaranteed", Preemptible: "preemptible", Opportunistic: "opportunistic"}

func (c Class) valid() bool { return c >= Guaranteed && c <= Opportunistic }

// String returns "guaranteed", "preemptible" or "opportunistic".
func (c Class) String() string { return name(classNames[:], "Class", uint8(c)) }

// MarshalText returns the name.
func (c Class) MarshalText() ([]byte, error) { return marshalName(classNames[:], "Class", uint8(c)) }

// UnmarshalText reads the name.
func (c *Class) UnmarshalText(p []byte) error {
	n, err := unmarshalName(classNames[:], "Class", p)
	*c = Class(n)
	return err
}

// A State is the phase of a charge: Held → Committed → Ended, with Expired and
// Released as the other ways out. In JSON a State is its name.
//
// A State is immutable and safe for concurrent use.
type State uint8

const (
	// Held counts like Committed, until its TTL runs out.
	Held State = iota + 1
	// Committed counts until its window ends.
	Committed
	// Ended reached the end of its window.
	Ended
	// Expired was held and not committed in time.
	Expired
	// Released was given back by its owner.
	Released
)

var stateNames = [...]string{Held: "held", Committed: "committed", Ended: "ended", Expired: "expired", Released: "released"}

func (s State) valid() bool { return s >= Held && s <= Released }

// Live reports whether the charge still counts or will count.
func (s State) Live() bool { return s == Held || s == Committed }

// String returns the name in lower case.
func (s State) String() string { return name(stateNames[:], "State", uint8(s)) }

// MarshalText returns the name.
func (s State) MarshalText() ([]byte, error) { return marshalName(stateNames[:], "State", uint8(s)) }

// UnmarshalText reads the name.
func (s *State) UnmarshalText(p []byte) error {
	n, err := unmarshalName(stateNames[:], "State", p)
	*s = State(n)
	return err
}

func name(names []string, kind string, v uint8) string {
	if v == 0 || int(v) >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, v)
	}
	return names[v]
}

func marshalName(names []string, kind string, v uint8) ([]byte, error) {
	if v == 0 || int(v) >= len(names) {
		return nil, fmt.Errorf("%w: %s %d: want one of %q", ErrInvalid, kind, v, names[1:])
	}
	return []byte(names[v]), nil
}

func unmarshalName(names []string, kind string, p []byte) (uint8, error) {
	for i, n := range names {
		if i > 0 && n == string(p) {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("%w: %s %q: want one of %q", ErrInvalid, kind, p, names[1:])
}
