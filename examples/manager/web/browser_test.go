// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/examples/manager/web"
)

const freePath = `document.querySelector(".chart.wide .freemin").getAttribute("d")`

func TestBrowserBooksAndChartChanges(t *testing.T) {
	src := newFake()
	srv := httptest.NewServer(web.Handler(src, web.Options{Pace: 50 * time.Millisecond}))
	t.Cleanup(srv.Close)
	b := openTab(t)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(srv.URL+"/calendar?pool=G3x8"), chromedp.WaitVisible("#form"))
	before := b.eval(freePath)

	// The answer comes while the form is filled in.
	b.set("f-nodes", "38")
	b.set("f-start", "2026-03-12T00:00")
	b.set("f-end", "2026-03-13T00:00")
	b.until(`!!document.querySelector("#answer .no")`)
	require.Contains(t, b.eval(`document.querySelector("#answer").textContent`), "38 nodes of G3x8 are needed")
	b.quiet("409") // the answer to a check that does not fit
	b.shot("calendar-refused")

	// Hold the first offer, which is a smaller one; confirm it.
	b.do(chromedp.Click(`.offers button[value=hold]`), chromedp.WaitVisible(".panel.wait"))
	b.shot("calendar-held")
	b.until(freePath + " !== " + fmt.Sprintf("%q", before))
	left := b.eval(`document.querySelector(".left").textContent`)
	b.until(fmt.Sprintf(`document.querySelector(".left").textContent !== %q`, left)) // it counts down
	b.do(chromedp.Click(".panel.wait button.main"), chromedp.WaitVisible(".panel.good"))
	b.do(chromedp.Click(".panel.good form[action='/cancel'] button"))
	b.until(`document.querySelector("#booking").textContent.includes("Given back")`)
	require.Equal(t, before, b.eval(freePath))

	// Draw a window on the chart, and book it.
	b.do(chromedp.Navigate(srv.URL+"/calendar?pool=G3x8"), chromedp.WaitVisible("#form"))
	b.drag(0.72, 0.8)
	b.until(`!!document.querySelector("#answer .yes")`)
	require.Equal(t, "2026-03-20", b.eval(`document.getElementById("f-start").value.slice(0, 10)`))
	b.shot("calendar-fits")
	b.do(chromedp.Click(`#form button[value=book]`), chromedp.WaitVisible(".panel.good"))
	require.NotEqual(t, before, b.eval(freePath))

	// Somebody else's booking arrives without a reload.
	seen := b.eval(freePath)
	b.eval(`(window.sameDocument = true)`)
	form := wanted("book")
	require.Equal(t, 303, post(web.Handler(src, web.Options{}), "/book", form).Code)
	b.until(freePath + " !== " + fmt.Sprintf("%q", seen))
	require.Equal(t, "true", b.eval(`window.sameDocument`))
	b.quiet("")
}

func TestBrowserBooksWithoutScript(t *testing.T) {
	src := newFake()
	srv := httptest.NewServer(web.Handler(src, web.Options{}))
	t.Cleanup(srv.Close)
	b := openTab(t)
	b.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.EmulateViewport(1280, 900),
		chromedp.Navigate(srv.URL+"/calendar?pool=G3x8"), chromedp.WaitVisible("#form"))
	free := chromedp.AttributeValue(".chart.wide .freemin", "d")
	before := result(b, free)
	b.do(chromedp.Click(`#form button[value=check]`), chromedp.WaitVisible("#answer .yes"),
		chromedp.Click(`#form button[value=book]`), chromedp.WaitVisible(".panel.good"))
	require.NotEqual(t, before, result(b, free))
	require.Equal(t, 1, src.booked)
	b.quiet("")
}

// Every page is drawn wide and narrow; none may be wider than its screen. With
// -artifacts pictures are kept, light and dark.
func TestBrowserPagesFitTheirScreens(t *testing.T) {
	srv := httptest.NewServer(web.Handler(newFake(), web.Options{}))
	t.Cleanup(srv.Close)
	b := openTab(t)
	schemes := []string{"light"} // the other has other colours and nothing else
	if keepsPictures() {
		schemes = append(schemes, "dark")
	}
	for _, scheme := range schemes {
		for _, width := range []int64{1280, 480} {
			b.do(chromedp.EmulateViewport(width, 900),
				command(emulation.SetEmulatedMedia,
					emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
			for _, p := range []struct{ name, path string }{{"overview", "/"}, {"calendar", "/calendar?pool=G2x8"}, {"many", "/calendar?pool=T4x2&days=30"}, {"short", "/calendar?pool=V100M16x8&days=7"}, {"model", "/calendar?model=V100M16"}, {"fleet", "/fleet"}, {"cpu", "/fleet?pool=cpu-96"},
				{"pool", "/fleet?pool=V100M32x8"}, {"node", "/node?id=G2x8-0003"}, {"quota", "/quota"}, {"queue", "/queue"}, {"error", "/calendar?pool=none"}} {
				b.do(chromedp.Navigate(srv.URL+p.path), chromedp.WaitVisible("main"))
				b.shot(fmt.Sprintf("%s-%s-%d", p.name, scheme, width))
				require.Equal(t, "true", b.eval(`document.documentElement.scrollWidth <= innerWidth`), "%s at %d", p.path, width)
				if p.name == "quota" && width == 1280 { // no figure is cut, nor behind the edge
					require.Equal(t, "true", b.eval(`[...document.querySelectorAll(".quota th, .quota td, .scroll")].every((c) => c.scrollWidth <= c.clientWidth)`))
				}
				if p.name != "error" {
					b.quiet("")
				}
			}
			b.quiet("404") // of the error page
		}
	}
}
