// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/berth-gpu/berth/reservation"

// ShortfallsAgainst is the part of W3 that compares what is short with what is
// listed, for another list.
func (s *State) ShortfallsAgainst(list []reservation.Degradation) error { return s.shortfalls(list) }

// ForgetTails makes the index of the pools forget how long nodes are cleaned.
func (s *State) ForgetTails() {
	x := *s.pools
	x.tail = 0
	s.pools = &x
}
