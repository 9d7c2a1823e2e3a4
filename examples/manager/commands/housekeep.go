// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"time"

	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
)

// Housekeep forgets what has been over for a while, so that the state stays as
// large as the work in it. The journal remembers it for as long as it keeps records.
type Housekeep struct{ Keep time.Duration }

// Do returns how many records were forgotten.
func (c Housekeep) Do(s *state.State, at time.Time) (int, error) {
	before := at.Add(-c.Keep).Truncate(time.Second)
	n := s.Ledger.Forget(at, before)
	m, err := s.Calendar.Forget(at, before)
	if err != nil {
		return n, err
	}
	n += m
	var over []string
	for j := range s.Jobs.All() {
		if (j.Phase == jobs.Ended || j.Phase == jobs.Cancelled) && j.Ended.Before(before) {
			over = append(over, j.ID)
		}
	}
	for _, id := range over {
		if err := s.Jobs.Forget(id); err != nil {
			return n, err
		}
	}
	return n + len(over), nil
}
