// SPDX-License-Identifier: Apache-2.0

package reservationtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/reservation"
	"github.com/berth-gpu/berth/reservation/reservationtest"
)

func open(t require.TestingT, pools []reservation.Pool) *reservation.Calendar {
	c, err := reservation.New(reservation.Config{Pools: pools, Start: reservationtest.Start})
	require.NoError(t, err)
	return c
}

// checked is a calendar that is recounted after every command.
type checked struct {
	reservationtest.FrontEnd
	c *reservation.Calendar
	t require.TestingT
}

func (x checked) Do(c reservationtest.Command) error {
	err := x.FrontEnd.Do(c)
	reservationtest.Check(x.t, x.c)
	return err
}

// TestCalendarAgrees: the calendar says yes and no as the model does, and a
// recount agrees after every command: I1, I2, I3.
func TestCalendarAgrees(t *testing.T) {
	for name, mix := range map[string]reservationtest.Mix{
		"floating": {Several: true},
		"outages":  {Several: true, Outages: true},
		"pinned":   {Several: true, Pinned: true, Standby: true},
		"all":      {Several: true, Pinned: true, Standby: true, Outages: true},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				pools := reservationtest.Pools().Draw(t, "pools")
				load := reservationtest.Loads(pools, mix).Draw(t, "load")
				c, m := open(t, pools), reservationtest.New(pools, reservationtest.Start)
				require.NoError(t, reservationtest.Run(checked{reservationtest.Front(c), c, t}, m, load))
				far := load[len(load)-1].At.Add(time.Hour)
				c.Advance(far)
				require.NoError(t, m.Do(reservationtest.Command{Op: reservationtest.Advance, At: far}))
				require.NoError(t, reservationtest.Agree(m, c))
			})
		})
	}
}
