// SPDX-License-Identifier: Apache-2.0

package nvmltest

import (
	"context"

	"github.com/berth-gpu/berth/nvmlx"
)

// subscription is a queue without bound; wake holds one token while the queue has events or the subscription is closed.
type subscription struct {
	node   *Node
	queue  []nvmlx.Event // guarded by node.mu
	closed bool          // guarded by node.mu
	wake   chan struct{}
}

// Subscribe starts a queue of events; it delivers what the script reports from now on.
//
// Possible errors: [nvmlx.ErrNoPermission], [nvmlx.ErrTimeout].
func (n *Node) Subscribe(ctx context.Context) (nvmlx.Subscription, error) {
	if err := n.enter(ctx, "subscribe", ""); err != nil {
		return nil, err
	}
	s := &subscription{node: n, wake: make(chan struct{}, 1)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.subscriptions[s] = true
	return s, nil
}

// report is called with the lock held.
func (n *Node) report(event nvmlx.Event) {
	for s := range n.subscriptions {
		s.queue = append(s.queue, event)
		s.signal()
	}
}

func (s *subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Next waits for one event.
func (s *subscription) Next(ctx context.Context) (nvmlx.Event, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nvmlx.Event{}, &nvmlx.Error{Kind: nvmlx.KindTimeout, Op: "nextEvent", Cause: err}
		}
		event, ok, err := s.take()
		if ok || err != nil {
			return event, err
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		}
	}
}

// take removes the oldest event; the token goes back while there is something left for another goroutine.
func (s *subscription) take() (nvmlx.Event, bool, error) {
	s.node.mu.Lock()
	defer s.node.mu.Unlock()
	if s.closed {
		s.signal()
		return nvmlx.Event{}, false, &nvmlx.Error{Kind: nvmlx.KindNotInitialised, Op: "nextEvent", Detail: "the subscription is closed"}
	}
	if len(s.queue) == 0 {
		return nvmlx.Event{}, false, nil
	}
	event := s.queue[0]
	s.queue = s.queue[1:]
	if len(s.queue) > 0 {
		s.signal()
	}
	return event, true, nil
}

// Close ends the subscription.
func (s *subscription) Close() error {
	s.node.mu.Lock()
	defer s.node.mu.Unlock()
	s.closed = true
	s.queue = nil
	delete(s.node.subscriptions, s)
	s.signal()
	return nil
}
