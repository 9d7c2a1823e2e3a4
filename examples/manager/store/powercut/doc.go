// SPDX-License-Identifier: Apache-2.0

// Package powercut is for tests of what must outlive a power cut. [Record] runs a
// program and notes, in order, every write to one file, every sync of it, and
// every line the program prints; [Trace.Cut] makes of that what a disk may hold
// when the power fails at some point of it: everything that a sync has covered,
// and of the rest any part.
//
// The record is of the program's system calls (ptrace), not of what it meant to
// do: a sync that is left out is not in it. It is for Linux, and sees nothing of
// a file that is written through a memory map.
package powercut
