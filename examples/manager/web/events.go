// SPDX-License-Identifier: Apache-2.0

package web

import (
	"io"
	"net/http"
	"time"
)

const (
	heartbeat  = 15 * time.Second // tells both sides that the other is alive
	writeLimit = 10 * time.Second // a client that takes nothing for so long is dropped
)

// events streams "changed" whenever a newer state is published, at most once
// per Options.Pace: changes in between become one event. The event has no
// content: the page asks for what it shows, so a slow reader gets the newest
// state and never a backlog. Each stream has its request's goroutine and
// nothing is shared between them, so none waits for another.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	if _, err := s.opt.Viewer(r); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if s.streams.Add(1) > int64(s.opt.MaxStreams) {
		s.streams.Add(-1)
		w.Header().Set("Retry-After", "30")
		http.Error(w, "too many open pages; this one is not refreshed", http.StatusServiceUnavailable)
		return
	}
	defer s.streams.Add(-1)

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for a proxy that would collect events
	rc := http.NewResponseController(w)
	send := func(text string) bool {
		// A writer that knows no deadline is a test's or a proxy's; it has its own.
		_ = rc.SetWriteDeadline(time.Now().Add(writeLimit))
		_, err := io.WriteString(w, text)
		return err == nil && rc.Flush() == nil
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	pace := time.NewTimer(0)
	defer pace.Stop()
	for {
		// The channel is taken before the event is sent: a change that the
		// reader's next question might miss closes it.
		changed := s.src.Changed()
		if !send("event: changed\ndata: \n\n") {
			return
		}
		pace.Reset(s.opt.Pace)
		for waiting := true; waiting; {
			select {
			case <-r.Context().Done():
				return
			case <-beat.C:
				if !send(": alive\n\n") {
					return
				}
			case <-changed:
				waiting = false
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-pace.C:
		}
	}
}
