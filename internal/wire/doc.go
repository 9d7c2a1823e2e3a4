// SPDX-License-Identifier: Apache-2.0

// Package wire is the binary codec that the engines share for events and
// snapshots: varints, strings and counted lists, appended to a byte slice and
// read back by a [Reader] that never panics and says where it failed.
//
// Framing (length, checksum, sequence) belongs to the host's record, so it is
// not here. A layout is never changed: a new layout takes a new kind or
// version number, so every release reads what earlier ones wrote.
package wire
