// SPDX-License-Identifier: Apache-2.0

// Package commands is what people and programs can ask of the manager: one file
// per command, each all or nothing over all engines. A command gets a fork of
// the state; if it returns an error the fork is dropped.
package commands
