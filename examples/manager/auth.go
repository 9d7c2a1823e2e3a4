// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
)

var errToken = errors.New(`send "Authorization: Bearer <token>", or the cookie berth-token`)

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
