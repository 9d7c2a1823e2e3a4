// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
)

// Forget removes the records of bookings that were over, and whose nodes were
// cleared, by an instant that is not after the present, and returns how many.
// Their ids may be used again. It costs O(log n) per record.
//
// Possible errors: [ErrUnaligned], [ErrInvalid].
func (c *Calendar) Forget(at, before time.Time) (int, error) {
	n := 0
	err := c.command(at, func(now int64) error {
		t, err := exact("before", before)
		if err != nil {
			return err
		}
		if t > now {
			return fmt.Errorf("%w: before %s is after the present %s", ErrInvalid, until(t), until(now))
		}
		if n = len(c.core.S.clearBy(t)); n == 0 {
			return nil
		}
		return c.decide(Forgotten{tick.Time(now), tick.Time(t), int64(n)})
	})
	return n, err
}
