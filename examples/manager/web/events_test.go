// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/web"
)

// stream opens /events and counts the events that come.
func stream(ctx context.Context, t *testing.T, url string) <-chan time.Time {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/events", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	out := make(chan time.Time, 1000)
	go func() {
		defer res.Body.Close()
		defer close(out)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "event: changed") {
				out <- time.Now()
			}
		}
	}()
	return out
}

func TestEventsFollowChangesAtTheirPace(t *testing.T) {
	const pace = 60 * time.Millisecond
	src := newFake()
	srv := httptest.NewServer(web.Handler(src, web.Options{Pace: pace}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := stream(ctx, t, srv.URL)
	last := <-events // the first says that the stream is there
	for range 3 {
		for range 100 { // a burst becomes one or two events
			src.touch()
		}
		at := <-events
		require.GreaterOrEqual(t, at.Sub(last), pace/2, "half the pace: the reader's clock is not the writer's")
		last = at
	}
	// A change that came while the stream paused is told after the pause.
	src.touch()
	<-events
	require.Less(t, len(events), 3, "no backlog")
}

func TestEventStreamsEnd(t *testing.T) {
	src := newFake()
	ended := make(chan struct{}, 2)
	h := web.Handler(src, web.Options{MaxStreams: 1, Pace: time.Millisecond})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		ended <- struct{}{}
	}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	<-stream(ctx, t, srv.URL)

	res, err := http.Get(srv.URL + "/events") // one too many
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 503, res.StatusCode)
	require.Equal(t, "30", res.Header.Get("Retry-After"))
	<-ended

	cancel() // the client goes, and so does its goroutine, though nothing changes
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		require.Fail(t, "the stream outlived its client")
	}
	again, stop := context.WithCancel(t.Context())
	defer stop()
	<-stream(again, t, srv.URL) // its place is free
}

// A client that reads nothing must not keep the others from their events.
func TestSlowReaderHoldsNobodyUp(t *testing.T) {
	src := newFake()
	srv := httptest.NewServer(web.Handler(src, web.Options{Pace: time.Millisecond}))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/events", nil)
	require.NoError(t, err)
	slow, err := http.DefaultClient.Do(r) // and its body is never read
	require.NoError(t, err)
	defer slow.Body.Close()
	quick := stream(ctx, t, srv.URL)
	for range 50 {
		src.touch()
		<-quick
	}
}
