// SPDX-License-Identifier: Apache-2.0

package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/*
var staticFiles embed.FS

// asset returns the address of a static file with a digest of its content, so
// that a browser may keep it for ever and still sees a new release's at once.
func asset(name string) (string, error) {
	data, err := staticFiles.ReadFile("static/" + name)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "/static/" + name + "?v=" + hex.EncodeToString(sum[:6]), nil
}

func static() http.Handler {
	files := http.FileServerFS(staticFiles)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/static/" { // no listing
			http.NotFound(w, r)
			return
		}
		if r.URL.Query().Has("v") {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		files.ServeHTTP(w, r)
	})
}

// parsePages reads the templates: the layout with each page's own file. Each
// page defines "content", what a browser shows, and "live", the parts of it
// that are refreshed. The files are part of the program, so that a mistake in
// one is the program's and every test finds it.
func parsePages() map[string]*template.Template {
	base := template.Must(template.New("layout.html").Funcs(funcs()).ParseFS(templateFiles,
		"templates/layout.html", "templates/strip.html"))
	pages := map[string]*template.Template{}
	for name, files := range map[string][]string{
		"overview": {"overview.html"},
		"calendar": {"calendar.html", "booking.html", "form.html", "answer.html"},
		"model":    {"model.html"},
		"fleet":    {"fleet.html"},
		"node":     {"node.html"},
		"quota":    {"quota.html"},
		"queue":    {"queue.html"},
		"error":    {"error.html"},
	} {
		t := template.Must(base.Clone())
		for _, f := range files {
			template.Must(t.ParseFS(templateFiles, "templates/"+f))
		}
		pages[name] = t
	}
	return pages
}
