// SPDX-License-Identifier: Apache-2.0

// Package api is the manager's HTTP/JSON interface.
//
//   - Every answer is one of the structs of package views. A refusal is
//     application/problem+json with a stable code.
//   - Every mutating call takes ?dry_run=true: it says what would happen and
//     changes nothing.
//   - Ids chosen by the caller (bookings, jobs) are request keys; other mutating
//     calls take an Idempotency-Key header. A retry is answered as before.
//   - Whoever calls with a tenant's token sees and changes that tenant's things only.
//
// Times are RFC 3339, in whole seconds.
package api
