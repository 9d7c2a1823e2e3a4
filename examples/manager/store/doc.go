// SPDX-License-Identifier: Apache-2.0

// Package store keeps the manager's journal: one record per command, durable
// before anybody sees its effect, and a snapshot now and then.
//
// # Model
//
//   - A [Record] is one command's decided events, with its sequence number.
//   - A frame is a record on disk: length, CRC-32C, then the bytes.
//   - A [Bolt] is a journal in one bbolt file: bucket "log" maps the sequence
//     number to a frame, bucket "meta" holds the snapshot and its sequence number.
//
// # Promises
//
// S1 Append returns after the records are on stable storage, all or none.
// S2 Load gives back every appended record after the snapshot, in order, without gaps.
// S3 Damage is never passed over: a frame whose checksum fails is an error that
// names the record, and a file whose pages do not hang together is not opened.
// Only the last frame of a plain journal file may be cut
// short, by a crash before its command was answered; [ReadJournal] reports it.
// S4 One process: a second one that opens the file gets [ErrInUse].
//
// bbolt writes a transaction's pages, syncs, writes the meta page, and syncs
// again; so after a power cut the file shows the last complete transaction, and
// a torn tail cannot appear inside it. Damage to the newest meta page itself
// cannot be told from a cut while it was written: the file then shows the
// transaction before. The tests record the program's own writes and syncs and cut
// the power at any point of them, see package powercut.
package store
