// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/berth-gpu/berth/examples/manager/store"
	"github.com/berth-gpu/berth/examples/manager/views"
)

// remote is what every client command needs to reach the manager.
type remote struct {
	Server string `help:"Address of the manager." default:"http://127.0.0.1:7700" env:"BERTH_SERVER"`
	Token  string `help:"Token of the caller." env:"BERTH_TOKEN"`
	Output string `short:"o" help:"table or json." enum:"table,json" default:"table"`
	DryRun bool   `help:"Say what would happen; change nothing."`
}

// Exit codes of the CLI.
const (
	exitFailed   = 1 // the manager cannot be reached, or is broken
	exitUsage    = 2 // the command line or the request is wrong
	exitRefused  = 3 // a well-formed request was refused: it would not fit
	exitNotFound = 4
	exitStore    = 5 // the store is damaged or in use
)

type usageError struct{ msg string }

func (e usageError) Error() string { return e.msg }

func usage(flag string, value any, rule string) error {
	return usageError{fmt.Sprintf("%s is %v: %s", flag, value, rule)}
}

func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrInUse) {
		return exitStore
	}
	if r, ok := errors.AsType[*views.Refusal](err); ok {
		switch r.Status {
		case http.StatusConflict, http.StatusPreconditionFailed:
			return exitRefused
		case http.StatusNotFound:
			return exitNotFound
		case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
			return exitUsage
		}
	}
	return exitFailed
}

// call sends one request and reads the answer into out. A refusal comes back as
// *views.Refusal.
func (c *remote) call(method, path string, query url.Values, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	if query == nil {
		query = url.Values{}
	}
	if c.DryRun && method != http.MethodGet {
		query.Set("dry_run", "true")
	}
	u := strings.TrimSuffix(c.Server, "/") + path
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	r, err := http.NewRequest(method, u, body)
	if err != nil {
		return usage("--server", c.Server, err.Error())
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	client := http.Client{Timeout: time.Minute}
	resp, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("no manager at %s: %w", c.Server, err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 256<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode >= 400 {
		var refusal views.Refusal
		if err := json.Unmarshal(b, &refusal); err != nil || refusal.Title == "" {
			return fmt.Errorf("%s %s: %s", method, path, resp.Status)
		}
		return &refusal
	}
	return json.Unmarshal(b, out)
}
