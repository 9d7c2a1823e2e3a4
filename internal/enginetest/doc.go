// SPDX-License-Identifier: Apache-2.0

// Package enginetest is the suite that every engine of this module must pass:
// the one idiom of ARCHITECTURE.md as executable properties.
//
//	E1 replay      Restore(snapshot) + Apply(log) is the live value: same bytes, and the
//	               same answers and events for what comes next, refusals included: after most
//	               histories for a few commands and questions, after some for a thousand.
//	E2 refusal     a command that fails leaves the encoded bytes and the events unchanged.
//	E3 isolation   a fork never changes its base, nor the base its forks, also when
//	               many goroutines fork, read and change their forks at once.
//	E4 determinism the same commands give the same bytes.
//	E5 time        a clock that goes back undoes nothing; Advance(a) then Advance(b) is
//	               Advance(b); Next is after the present and is not passed by silently.
//	E6 codec       a cut or damaged snapshot or event is an error, never a panic, and what
//	               is accepted encodes to the same bytes again.
//	E7 prefix      every prefix of the log is a valid state.
//
// The commands of a subject must be of both kinds: at least one in fifty is
// accepted, and one in fifty refused.
package enginetest
