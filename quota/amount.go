// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	// MaxAmount is the greatest quantity of one [Amount] and of one nominal.
	MaxAmount = 1 << 40
	// MaxTotal is the bound that no sum of amounts may pass. A limit at or
	// above it can never bind.
	MaxTotal = 1 << 62
	// MaxAmounts is the greatest number of keys in one request.
	MaxAmounts = 64
	// MaxLimits is the greatest number of limits of one tenant.
	MaxLimits = 4096
	// MaxTenants is the greatest number of tenants in one ledger, chosen so that
	// the sum of all nominals stays below [MaxTotal].
	MaxTenants = 1 << 20
)

// A Key names what is counted: a class of hardware and, if it is not whole
// devices, the unit, as in "gpu/h100-sxm" or "gpu-milli/a100". The host chooses
// the unit; the ledger never converts. Keys follow the rules of ids: not empty,
// at most 256 bytes of UTF-8, no control characters.
//
// A Key is immutable and safe for concurrent use.
type Key string

// An Amount is a positive quantity of one key, in the key's unit.
//
// An Amount is immutable and safe for concurrent use.
type Amount struct {
	Key Key   `json:"key"`
	N   int64 `json:"n"` // 1 to MaxAmount
}

// A Bound is an optional upper limit. The zero Bound is unlimited. In JSON it
// is null or a number.
//
// A Bound is immutable and safe for concurrent use.
type Bound struct {
	Limited bool
	Max     int64 // 0 to MaxTotal, and 0 if not Limited
}

// AtMost returns the Bound n. Since no sum passes [MaxTotal], a greater n can
// never bind and gives the unlimited Bound.
func AtMost(n int64) Bound {
	if n > MaxTotal {
		return Bound{}
	}
	return Bound{Limited: true, Max: n}
}

// String returns the number, or "unlimited".
func (b Bound) String() string {
	if !b.Limited {
		return "unlimited"
	}
	return strconv.FormatInt(b.Max, 10)
}

// MarshalJSON returns null or the number.
func (b Bound) MarshalJSON() ([]byte, error) {
	if !b.Limited {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, b.Max, 10), nil
}

// UnmarshalJSON reads null or a whole number, as [AtMost] does.
func (b *Bound) UnmarshalJSON(p []byte) error {
	if string(p) == "null" {
		*b = Bound{}
		return nil
	}
	var n int64
	if err := json.Unmarshal(p, &n); err != nil {
		return fmt.Errorf("%w: bound %s: want null or a whole number that fits 64 bits", ErrInvalid, p)
	}
	*b = AtMost(n)
	return nil
}

func (b Bound) problem() string {
	switch {
	case b.Limited && (b.Max < 0 || b.Max > MaxTotal):
		return fmt.Sprintf("must be 0 to %d, or unlimited", int64(MaxTotal))
	case !b.Limited && b.Max != 0:
		return "has a maximum but is not limited; use AtMost"
	}
	return ""
}

// find returns the quantity of key, 0 if there is none.
func find(amounts []Amount, key Key) int64 {
	for i := range amounts {
		if amounts[i].Key == key {
			return amounts[i].N
		}
	}
	return 0
}

// sorted returns a copy of amounts in the order of their keys.
func sorted(amounts []Amount) []Amount {
	out := slices.Clone(amounts)
	slices.SortFunc(out, func(a, b Amount) int { return strings.Compare(string(a.Key), string(b.Key)) })
	return out
}

// sameAmounts compares two lists as sets; a is known to have no key twice.
func sameAmounts(a, b []Amount) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range b {
		if find(a, b[i].Key) != b[i].N {
			return false
		}
	}
	return true
}

// badAmounts reports every problem of amounts under the name field. It does not
// allocate if there is none.
func badAmounts(field string, amounts []Amount) (errs []error) {
	if len(amounts) == 0 || len(amounts) > MaxAmounts {
		return []error{fmt.Errorf("%s has %d entries: must be 1 to %d", field, len(amounts), MaxAmounts)}
	}
	for i, a := range amounts {
		if p := badName(string(a.Key)); p != "" {
			errs = append(errs, fmt.Errorf("%s[%d].Key %q %s", field, i, a.Key, p))
		}
		if a.N < 1 || a.N > MaxAmount {
			errs = append(errs, fmt.Errorf("%s[%d].N %d of key %q: must be 1 to %d", field, i, a.N, a.Key, int64(MaxAmount)))
		}
		for j := range i {
			if amounts[j].Key == a.Key {
				errs = append(errs, fmt.Errorf("%s[%d].Key %q is listed twice; add the amounts up", field, i, a.Key))
				break
			}
		}
	}
	return errs
}
