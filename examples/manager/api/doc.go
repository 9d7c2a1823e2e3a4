// SPDX-License-Identifier: Apache-2.0

// Package api is the manager's HTTP/JSON interface.
//
//   - Answers are the structs of package views, or of berth's own packages (holds,
//     leases, tenants). A refusal is application/problem+json with a stable code.
//   - Every mutating call takes ?dry_run=true: it says what would happen and
//     changes nothing.
//   - The ids that callers choose for bookings and jobs are request keys; all other
//     mutating calls take an Idempotency-Key header. A retry within a day is
//     answered as before. Every caller has keys of its own.
//   - Confirm, extend and give back take ?if_version=<n>: the booking's version, as
//     the caller has seen it. If it has changed since, the answer is 412 and nothing
//     is changed. Bookings are what has versions; jobs, holds, tenants and the fleet
//     have none.
//   - A body is one JSON value in which no field is unknown, misspelled or given twice.
//   - Whoever calls with a tenant's token sees and changes that tenant's things only.
//
// Times are RFC 3339, in whole seconds.
package api
