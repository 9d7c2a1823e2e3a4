// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
)

var errToken = errors.New(`send "Authorization: Bearer <token>", or sign in at /login`)

const tokenCookie = "berth-token"

// bearer names the holder of a token. Tokens are looked up by their digest, so
// the time it takes says nothing about them.
func bearer(tokens map[string]string) func(*http.Request) (string, error) {
	byDigest := map[[32]byte]string{}
	for t, tenant := range tokens {
		byDigest[sha256.Sum256([]byte(t))] = tenant
	}
	return func(r *http.Request) (string, error) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			if c, err := r.Cookie(tokenCookie); err == nil {
				token = c.Value
			}
		}
		tenant, ok := byDigest[sha256.Sum256([]byte(token))]
		if !ok {
			return "", errToken
		}
		return tenant, nil
	}
}

// loopbackOnly serves requests that name this machine as their host, and no
// others: without tokens every caller is an admin, and a page of another site
// could have its name resolve to this machine.
func loopbackOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "without tokens only loopback is served", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

const loginPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>berth</title><meta name="viewport" content="width=device-width">
<h1>berth</h1><form method="post"><label>Token <input name="token" type="password" autocomplete="current-password" autofocus></label> <button>Sign in</button></form>%s`

// login keeps a token in a cookie that scripts cannot read, for the page. The
// token is checked with every request, so nothing needs to be kept here.
func login(viewer func(*http.Request) (string, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'")
		if r.Method != http.MethodPost {
			_, _ = fmt.Fprintf(w, loginPage, "")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
		c := &http.Cookie{Name: tokenCookie, Value: r.PostFormValue("token"), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil}
		probe := &http.Request{Header: http.Header{"Authorization": {"Bearer " + c.Value}}}
		if _, err := viewer(probe); err != nil || c.Valid() != nil {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, loginPage, "<p>That token is not known.</p>")
			return
		}
		http.SetCookie(w, c)
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
}
