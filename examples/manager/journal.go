// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"github.com/berth-gpu/berth/examples/manager/state"
	"github.com/berth-gpu/berth/examples/manager/store"
)

type kongContext = kong.Context

type journalCmd struct {
	Store  string `arg:"" help:"Store file of a manager that is not running." type:"existingfile"`
	Export string `help:"Write the records as a plain journal file instead of printing them."`
}

// Run prints the audit log, one JSON object per record, or exports the records.
func (c *journalCmd) Run() error {
	b, err := store.Open(c.Store)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close() }()
	out := bufio.NewWriter(os.Stdout)
	var file *os.File
	if c.Export != "" {
		if file, err = os.OpenFile(c.Export, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
			return err
		}
		out = bufio.NewWriter(file)
	}
	err = b.History(
		func(r store.Record) error {
			if file != nil {
				frame, err := store.AppendFrame(nil, r)
				if err != nil {
					return err
				}
				_, err = out.Write(frame)
				return err
			}
			s, err := state.Describe(r.Seq, r.Payload)
			if err != nil {
				return err
			}
			line, err := json.Marshal(s)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "%s\n", line)
			return err
		})
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if file != nil {
		return file.Close()
	}
	return nil
}
