// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/internal/need"
	"github.com/berth-gpu/berth/examples/manager/clock"
	"github.com/berth-gpu/berth/examples/manager/commands"
	"github.com/berth-gpu/berth/examples/manager/demo"
	"github.com/berth-gpu/berth/examples/manager/jobs"
	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/store"
	"github.com/berth-gpu/berth/examples/manager/views"
	"github.com/berth-gpu/berth/quota"
)

const cliEnv = "BERTH_CLI_CHILD"

// running is the demo's fleet on a clock of wall speed, without the driver, so
// that nobody but the test books anything.
func running(t *testing.T, path string) (address string, stop func() error) {
	d, err := openDaemon(path, func(time.Time) clock.Clock { return clock.NewFast(demo.Start, 1) }, newDemo)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- d.serve(ctx, "127.0.0.1:0", nil, func(url string) { ready <- url }, func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
	}()
	select {
	case address = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	return address, func() error { cancel(); return <-ended }
}

// cliRun runs this program as a user would and returns its exit code.
func cliRun(t *testing.T, url string, args ...string) (code int, stdout, stderr string) {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), cliEnv+"=1", "BERTH_SERVER="+url)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		require.IsType(t, &exec.ExitError{}, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// The CLI against a running manager, over a restart, with exit codes that mean
// something.
func TestCLI(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	url, stop := running(t, path)
	ok := func(args ...string) string {
		code, out, errs := cliRun(t, url, args...)
		require.Zero(t, code, "%v: %s", args, errs)
		return out
	}
	no := func(code int, want string, args ...string) {
		got, out, errs := cliRun(t, url, args...)
		require.Equal(t, code, got, "%v: %s%s", args, out, errs)
		require.Contains(t, errs, want, "%v", args)
	}
	var pools []views.Pool
	require.NoError(t, json.Unmarshal([]byte(ok("pools", "-o", "json")), &pools))
	require.Len(t, pools, 12)
	var gpus int64
	for _, p := range pools {
		gpus += p.Nodes * p.GPUsPerNode
	}
	require.Equal(t, int64(6212), gpus)

	base := []string{"--owner", "vision", "--pool", "G3-x8", "--start", "2026-03-04T08:00:00Z", "--for", "24h"}
	require.Contains(t, ok(append([]string{"offers", "--nodes", "10"}, base...)...), "exact")
	require.Contains(t, ok(append([]string{"book", "--id", "run-1", "--nodes", "10"}, base...)...), "confirmed")
	require.Contains(t, ok(append([]string{"book", "--id", "run-1", "--nodes", "10"}, base...)...), "confirmed", "a retry is answered as before")
	no(exitRefused, "taken", append([]string{"book", "--id", "run-1", "--nodes", "9"}, base...)...)
	no(exitRefused, "quota", append([]string{"book", "--nodes", "30"}, base...)...)
	out := ok(append([]string{"offers", "--nodes", "30"}, base...)...)
	require.Contains(t, out, "smaller", "the most that is within quota")
	require.Contains(t, out, "not as asked: not within quota")
	no(exitRefused, "changed meanwhile", "cancel", "run-1", "--if-version", "7")
	no(exitUsage, "nodes is 0", append([]string{"book", "--nodes", "0"}, base...)...)
	no(exitUsage, "--end", "book", "--owner", "vision", "--pool", "G3-x8", "--start", "2026-03-04T08:00:00Z")
	no(exitNotFound, "none", "cancel", "none")
	no(exitNotFound, `not found: booking "none"`, "cancel", "none")
	require.Contains(t, ok("extend", "run-1", "--end", "2026-03-06T08:00:00Z", "--if-version", "1"), "2026-03-06 08:00Z")
	no(exitRefused, "version 2, not 1", "extend", "run-1", "--end", "2026-03-06T09:00:00Z", "--if-version", "1")
	no(exitUsage, `limit is "-4"`, "queue", "--limit=-4")
	require.Contains(t, ok("bookings"), "run-1")
	require.Contains(t, ok("availability", "G3-x8", "--days", "5"), "29")
	ok("submit", "--id", "job-1", "--tenant", "speech", "--gpus", "1", "--cpu-milli", "1000")
	require.Contains(t, ok("explain", "job-1"), "next pass")
	require.Contains(t, ok("queue"), "1 waiting, 0 running")
	require.Contains(t, ok("quota"), "gpu-milli/G3")
	node := strings.Fields(strings.Split(ok("nodes", "A10-x1"), "\n")[1])[0]
	require.Contains(t, ok("cordon", node, "--owner", "human/oncall", "--step", "rma", "--reason", "fan"), "rma")
	require.Contains(t, ok("nodes", "A10-x1"), "human/oncall")
	require.Contains(t, ok("check"), "holds")
	no(exitNotFound, "does not hold", "uncordon", node, "--owner", "maintenance")
	// Nothing at all can be had: that is a failure, and says why.
	no(exitRefused, "quota", "offers", "--owner", "org", "--pool", "G3-x8", "--start", "2026-03-04T08:00:00Z", "--for", "24h")
	write := func(text string) string {
		p := filepath.Join(t.TempDir(), "x.json")
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	require.Contains(t, ok("fleet", write(`{"remove":["openb-node-0001"]}`), "--dry-run"), "1212")
	require.Contains(t, ok("fleet", write(`{"remove":["openb-node-0001"]}`)), "1212")
	no(exitUsage, "nowhere", "fleet", write(`{"remove":["nowhere"]}`))
	require.Contains(t, ok("tenant", write(`{"name":"guest","parent":"org","limits":[{"key":"gpu-milli/T4","nominal":2000}]}`)), "guest")
	no(exitUsage, "guest", "tenant", write(`{"name":"org","parent":"guest"}`))
	require.Contains(t, ok("kill", "job-1", "--why", "test"), "cancelled")

	// A second process is told so; so is one with a damaged store.
	no(exitStore, "in use", "serve", "--store", path, "--listen", "127.0.0.1:0")
	no(exitStore, "in use", "journal", path)
	require.NoError(t, stop())
	bad := filepath.Join(t.TempDir(), "bad.db")
	require.NoError(t, os.WriteFile(bad, bytes.Repeat([]byte("no journal"), 4000), 0o600))
	no(exitStore, "not a berth journal", "serve", "--store", bad, "--listen", "127.0.0.1:0")
	no(exitFailed, "no manager at", "pools")
	no(exitUsage, "loopback", "serve", "--store", path, "--listen", "0.0.0.0:0")
	no(exitUsage, "--speed is -1", "demo", "--speed=-1")

	// What was answered is there after a restart.
	url, stop = running(t, path)
	require.Contains(t, ok("bookings"), "run-1")
	require.Contains(t, ok("cancel", "run-1"), "cancelled")
	require.Contains(t, ok("uncordon", node, "--owner", "human/oncall"), node)
	require.NoError(t, stop())
	_, out, _ = cliRun(t, url, "journal", path)
	for _, command := range []string{"book", "extend", "submit", "cordon", "fleet", "tenant", "cancel"} {
		require.Contains(t, out, `"command":"`+command+`"`, "the audit log outlives an orderly stop")
	}
	file := filepath.Join(t.TempDir(), "plain")
	code, _, errs := cliRun(t, url, "journal", path, "--export", file)
	require.Zero(t, code, errs)
	f, err := os.Open(file)
	require.NoError(t, err)
	cut, err := store.ReadJournal(f, 1, func(store.Record) error { return nil })
	require.NoError(t, err)
	require.Nil(t, cut)
	require.NoError(t, f.Close())
}

// A fleet file with mistakes: all of them are named, and nothing is started.
func TestBadFleetFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	store := filepath.Join(dir, "new.db")
	code, _, errs := cliRun(t, "", "serve", "--listen", "127.0.0.1:0", "--store", store, "--fleet",
		write("fleet.csv", "sn,cpu_milli,memory_mib,gpu,model\na,1000,1000,-1,T4\na,x,1000,1,T4\n"))
	require.NotZero(t, code)
	require.Contains(t, errs, "-1")
	require.Contains(t, errs, `"x"`)
	code, _, errs = cliRun(t, "", "serve", "--listen", "127.0.0.1:0", "--store", store, "--quota",
		write("quota.json", `[{"name":"a","parent":"b"},{"name":"b","parent":"a"}]`))
	require.NotZero(t, code)
	require.Contains(t, errs, "cycle")
	code, _, errs = cliRun(t, "", "serve", "--listen", "127.0.0.1:0", "--store", store, "--quota", write("quota2.json", `[{"nam":"a"}]`))
	require.NotZero(t, code)
	require.Contains(t, errs, "nam")
	code, _, errs = cliRun(t, "", "serve", "--listen", "127.0.0.1:0", "--store", store, "--quota", write("quota3.json", `[{"name":"a","name":"b"}]`))
	require.NotZero(t, code)
	require.Contains(t, errs, "twice")
}

// A new manager that is given a fleet and nothing else can run work on all of it;
// one that lacks nodes or quota says so.
func TestServeSaysWhatIsMissing(t *testing.T) {
	write := func(text string) string {
		p := filepath.Join(t.TempDir(), "x")
		require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
		return p
	}
	fleet := write("sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,T4\nn1,96000,393216,8,G2\nc0,32000,65536,0,\n")
	s, err := (&serveCmd{Fleet: fleet}).fresh()
	require.NoError(t, err)
	require.Empty(t, missing(s))
	org, ok := s.Ledger.Tenant("org")
	require.True(t, ok)
	require.ElementsMatch(t, []quota.Limit{{Key: "gpu-milli/T4", Nominal: 2000}, {Key: "gpu-milli/G2", Nominal: 8000}, {Key: "cpu-milli", Nominal: 32_000}}, org.Limits)
	at, err := s.Begin(state.Header{At: demo.Start, Command: "test"})
	require.NoError(t, err)
	for i, pool := range []string{"T4-x2", "G2-x8", "cpu-32"} {
		_, err := commands.Book{ID: fmt.Sprint("b", i), Owner: "org", Pool: pool, Nodes: 1, Start: demo.Start.Add(time.Hour), End: demo.Start.Add(2 * time.Hour)}.Do(s, at)
		require.NoError(t, err)
	}

	s, err = (&serveCmd{Fleet: fleet, Quota: write(`[{"name":"a","limits":[{"key":"gpu-milli/T4","nominal":2000}]}]`)}).fresh()
	require.NoError(t, err)
	lines := missing(s)
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `no tenant has quota for pool G2-x8: give one "gpu-milli/G2"`)
	s, err = (&serveCmd{}).fresh()
	require.NoError(t, err)
	require.Contains(t, missing(s)[0], "no node is there")

	// How long the recovery took is said at the start.
	path := filepath.Join(t.TempDir(), "berth.db")
	for _, found := range []string{"0 records replayed, last 0, recovered in ", "1 records replayed, last 1, recovered in "} {
		d, err := openDaemon(path, stands, (&serveCmd{Fleet: fleet}).fresh)
		require.NoError(t, err)
		require.Contains(t, d.recovered(path), found)
		require.Positive(t, d.took)
		ctx, stop := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { _ = d.cell.Run(ctx) })
		_, err = d.service.Submit(ctx, "", jobs.Job{ID: "j", Tenant: "org", Count: 1, GPUs: 1}, false)
		require.NoError(t, err)
		stop()
		run.Wait()
		require.NoError(t, d.journal.Close())
	}
}

// A person books a window through the form of a real manager, and the chart of
// free nodes changes.
func TestBrowserBooks(t *testing.T) {
	chromium := need.Chromium(t)
	url, stop := running(t, filepath.Join(t.TempDir(), "berth.db"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(chromium), chromedp.UserDataDir(t.TempDir()),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Title()) // the browser lives as long as this context
	require.NoError(t, err)
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	do := func(actions ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		_, err := chromedp.Run(ctx, chromedp.Steps(actions...))
		require.NoError(t, err)
	}
	eval := func(js string) string {
		t.Helper()
		v, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+js+")"))
		require.NoError(t, err)
		return v
	}
	const free = `document.querySelector(".chart.wide .freemin").getAttribute("d")`
	do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url+"/calendar?pool=G3-x8"), chromedp.WaitVisible("#form"))
	before := eval(free)
	for id, value := range map[string]string{"f-nodes": "8", "f-start": "2026-03-05T00:00", "f-end": "2026-03-07T00:00"} {
		eval(fmt.Sprintf(`(() => { const f = document.getElementById(%q); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); })()`, id, value))
	}
	do(chromedp.Click(`#form button[value=book]`), chromedp.WaitVisible(".panel.good"))
	require.NotEqual(t, before, eval(free))
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(t.ArtifactDir(), "booked.png"), png, 0o600))

	resp, err := http.Get(url + "/v1/bookings")
	require.NoError(t, err)
	var list []views.Booking
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&list))
	require.NoError(t, resp.Body.Close())
	require.Len(t, list, 1)
	require.Equal(t, int64(8), list[0].Nodes)
	require.NoError(t, stop())
}

// With tokens, page and API know who calls; without one nobody gets in.
func TestTokens(t *testing.T) {
	viewer := bearer(map[string]string{"admin-token-0123456789": "", "vision-token-0123456789": "vision"})
	h := login(viewer)
	post := func(token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/login", strings.NewReader(url.Values{"token": {token}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	require.Equal(t, http.StatusUnauthorized, post("wrong").Code)
	require.Equal(t, http.StatusUnauthorized, post("").Code)
	w := post("vision-token-0123456789")
	require.Equal(t, http.StatusSeeOther, w.Code)
	cookie := w.Result().Cookies()[0]
	require.True(t, cookie.HttpOnly)
	r := httptest.NewRequest("GET", "/", nil)
	_, err := viewer(r)
	require.Error(t, err)
	r.AddCookie(cookie)
	who, err := viewer(r)
	require.NoError(t, err)
	require.Equal(t, "vision", who)
	r = httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer admin-token-0123456789")
	who, err = viewer(r)
	require.NoError(t, err)
	require.Empty(t, who)
}
