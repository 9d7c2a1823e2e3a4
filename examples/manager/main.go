// SPDX-License-Identifier: Apache-2.0

// Command manager is a cluster manager for GPUs on an embedded store: teams,
// quotas, bookings, jobs, a page to look at, an HTTP API and a CLI.
//
//	manager demo                     a fleet of 1,213 nodes, four teams and a real trace, on a fast clock
//	manager serve --fleet fleet.json the same on wall time, with your fleet
//	manager book … | offers … | queue | quota | nodes | …   the CLI of a running manager
package main

import (
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

type cli struct {
	Demo  demoCmd  `cmd:"" help:"Run a manager on a real trace with an accelerated clock."`
	Serve serveCmd `cmd:"" help:"Run a manager on wall time."`

	clientCmds

	Journal journalCmd `cmd:"" help:"Read a stopped manager's store: audit log as JSON, or export as a plain file."`
}

func main() {
	var c cli
	k := kong.Parse(&c, kong.Name("manager"), kong.Description("A cluster manager for GPUs on an embedded store."), kong.UsageOnError(),
		kong.Exit(func(code int) {
			if code != 0 {
				code = exitUsage // kong ends the program by itself for a wrong command line only
			}
			os.Exit(code)
		}))
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(exitCode(err))
	}
}
