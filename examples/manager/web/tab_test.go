// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/internal/need"
)

// A tab is a page of a browser with an empty profile, and what it complained of.
type tab struct {
	*testing.T
	ctx        context.Context
	complaints chan string
}

// patience is for one step; a busy machine needs some.
const patience = 30 * time.Second

func openTab(t *testing.T) tab {
	t.Helper()
	// The library's own default options are not used: these are all there are.
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(need.Chromium(t)), chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("hide-scrollbars", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := tab{T: t, ctx: ctx, complaints: make(chan string, 100)}
	_, err := chromedp.Run(ctx, chromedp.Title()) // the browser lives as long as this context
	require.NoError(t, err)
	thrown, logged := chromedp.Events(ctx, runtime.ExceptionThrown), chromedp.Events(ctx, log.EntryAdded)
	go func() {
		for ev, err := range thrown {
			if err == nil {
				b.complain("exception: " + ev.ExceptionDetails.Text)
			}
		}
	}()
	go func() {
		for ev, err := range logged {
			if err == nil {
				b.complain(string(ev.Entry.Level) + ": " + ev.Entry.Text + " " + ev.Entry.URL)
			}
		}
	}()
	b.do(command(log.Enable, cdp.Empty{}), command(runtime.Enable, cdp.Empty{}))
	return b
}

// command makes an action of a command of the browser's protocol.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func (b tab) complain(s string) {
	select {
	case b.complaints <- s:
	default:
	}
}

// quiet fails if the page threw, or broke its own security policy. What the
// browser says about an answer's status is expected where known says so.
func (b tab) quiet(known string) {
	b.Helper()
	for len(b.complaints) > 0 {
		s := <-b.complaints
		require.True(b, known != "" && strings.Contains(s, known), "the browser complained: %s", s)
	}
}

func (b tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	result(b, chromedp.Steps(actions...))
}

// result runs an action that has one.
func result[T any](b tab, a chromedp.Action[T]) T {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	require.NoError(b, err)
	return v
}

func (b tab) eval(js string) string {
	b.Helper()
	return result(b, chromedp.Evaluate[string]("String("+js+")"))
}

// until waits for an expression to be true. A question that a navigation cut
// off is asked again.
func (b tab) until(js string) {
	b.Helper()
	require.Eventually(b, func() bool {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+js+")"))
		return err == nil && ok
	}, patience, 50*time.Millisecond, js)
}

// set fills in a field as a person would.
func (b tab) set(id, value string) {
	b.Helper()
	b.eval(fmt.Sprintf(`(() => { const f = document.getElementById(%q); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); })()`, id, value))
}

// shot keeps a picture of the page if the run keeps artifacts: nothing is asked
// of it, and a picture of a large page takes a second.
func (b tab) shot(name string) {
	b.Helper()
	if !keepsPictures() {
		return
	}
	png := result(b, chromedp.FullScreenshot(100))
	require.NoError(b, os.WriteFile(filepath.Join(b.ArtifactDir(), name+".png"), png, 0o644))
}

func keepsPictures() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}

// drag moves the pressed pointer over the chart between two parts of its width.
func (b tab) drag(from, to float64) {
	b.Helper()
	box := result(b, chromedp.Evaluate[[]float64](`(() => { const s = document.querySelector(".chart.wide"); s.scrollIntoView({block: "center"});
		const r = s.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()`))
	at := func(kind input.DispatchMouseEventType, part float64) chromedp.Action[chromedp.Void] {
		return chromedp.MouseEvent(kind, box[0]+box[2]*part, box[1]+box[3]/2, chromedp.ButtonType(input.MouseButtonLeft))
	}
	b.do(at(input.DispatchMouseEventTypeMousePressed, from), at(input.DispatchMouseEventTypeMouseMoved, (from+to)/2),
		at(input.DispatchMouseEventTypeMouseMoved, to), at(input.DispatchMouseEventTypeMouseReleased, to))
}
