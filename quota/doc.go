// SPDX-License-Identifier: Apache-2.0

// Package quota keeps the ledger of who may use how much of a shared cluster: a
// tree of tenants that own, lend and borrow, and the charges they hold over time.
//
// # Model
//
//   - [Ledger] is the forkable value: tenants, limits, charges, and what follows.
//   - [Tenant] is a node of the tree; any node may have limits, children and charges.
//   - [Limit] is what a tenant has of one [Key]: nominal, borrow, lend, cap.
//   - [Charge] is an admitted [Request]: amounts over a window, in one [Class].
//   - [ExceededError] is a refusal: every [Blocker], with what it lacks.
//   - [Event] is a decided fact; a log of events replays the ledger.
//
// For every tenant and key, at every instant:
//
//	S = nominal + Σ min(S, lend) of the children    the quota of the subtree
//	G = max(0, S − lend)                            the part that is never lent
//	U = own charges + Σ max(0, U − G) of the children
//	R = all charges of the subtree
//
//	              lab  nominal 4                U ≤ S = 4 + 3 + 5
//	             ▲ lend 3     ▲ lend 5
//	vision nominal 6       speech nominal 5     U ≤ S + borrow
//	(G = 3 stays private)  (G = 0)              R ≤ cap
//
// A charge is admitted if at every instant of its window, wherever it makes R or
// U grow, R ≤ cap and U ≤ S + borrow hold (at a root: U ≤ S). That is so exactly
// if quota can flow: every child hands its parent between −borrow and lend, and
// nobody uses more than its nominal, what it is handed, and what it keeps.
// Guaranteed charges must also fit among themselves as if every lend limit were
// 0, so they never rely on what is lent. Preemptible and Opportunistic charges
// are admitted alike; they differ in who gives back first.
//
// A charge of a tenant that has children is like one of an extra child without
// limits: it takes from the tenant's own pool.
//
// # Usage
//
//	ledger, err := quota.New(quota.Config{Tenants: []quota.Tenant{
//		{Name: "lab"},
//		{Name: "vision", Parent: "lab", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 64}}},
//		{Name: "speech", Parent: "lab", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 32, Lend: quota.AtMost(16)}}},
//	}})
//	if err != nil {
//		return err
//	}
//	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
//	next := ledger.Fork()
//	_, err = next.Reserve(now, quota.Request{
//		ID: "train-7", Tenant: "vision", Class: quota.Preemptible,
//		Amounts: []quota.Amount{{Key: "gpu/h100", N: 96}},
//		Window:  quota.Window{Start: now.Add(time.Hour), End: now.Add(25 * time.Hour)},
//		TTL:     10 * time.Minute,
//	})
//	if exceeded, ok := errors.AsType[*quota.ExceededError](err); ok {
//		for _, b := range exceeded.Blockers {
//			fmt.Printf("%s of %s lacks %d\n", b.Kind, b.Tenant, b.Deficit)
//		}
//	}
//	// On success: store next.Events(), then publish next in the place of ledger.
//
// # Invariants
//
// The tests quote these numbers. (The gaps are for what later releases add.)
//
//	Q1   S, G, U and R equal a recount from the charges, after any commands.
//	Q2   U ≤ S + borrow, U ≤ S at a root, R ≤ cap – or the tenant is in debt since
//	     a limit was lowered, and nothing makes the debt worse.
//	Q3   A charge is admitted exactly if a flow of lent quota exists that serves all.
//	Q4   Only the set of charges counts, not the history: reserve + release = nothing.
//	Q5   Without debt, raising a limit or dropping a charge never turns a yes into a no.
//	Q6   Caps aside, a tenant that lends nothing can always reach its nominal,
//	     whatever others do.
//	Q7   The same commands give the same bytes; order of input lists plays no part.
//	Q8   No sum wraps: amounts stay ≤ 2⁴⁰ and sums ≤ 2⁶², and more is refused.
//	Q22  Expiry is exact; nothing is committed after it; ids are idempotent.
//	Q23  A fork never changes its base; Fits is what Reserve at the same instant
//	     would answer, and Available the most that Fits would admit.
//	Q24  A refusal is exact: raise all listed limits by their deficits and it is
//	     admitted, unless a limit would pass MaxAmount; leave one out and it is not.
//	Q25  Restore of a snapshot, and replay of the log, give the same bytes.
//	Q26  Q2 holds at every instant, now and in the future.
//	Q28  A change of the tree is applied whole or refused; cycles cannot be.
//
// # Concurrency
//
// A Ledger is a value with one writer: many goroutines may read it and fork it
// while nobody changes it. Publish forks through an atomic pointer.
//
// # Errors and reasons
//
// A refusal for want of quota is an [*ExceededError] that lists every limit in
// the way, of four kinds: [Cap], [BorrowLimit], [RootQuota] and
// [GuaranteedOverNominal]. Show other tenants only [ExceededError.For]. All else
// is a wrapped sentinel: [ErrInvalid], [ErrUnknown], [ErrExists], [ErrState],
// [ErrExpired], [ErrCorrupt], [ErrContradiction]. A failed command changes nothing.
//
// # Complexity
//
// With h tenants from the requester to the root, k keys in the request, n
// changes of level of a tenant and key, and s spans of the charge, which has one
// more for each time it was resized while it ran:
//
//	Fits, Reserve, Book                    O(k·h·log n)
//	Commit, Release, Resize                O(k·h·log n + k·s)
//	Usage                                  O((h+f)·log n), f siblings of those h
//	Available                              40 times Fits
//	Fork, Next                             O(1)
//	Advance                                one Release per charge that is due; so
//	                                       pays each Fits that asks beyond it
//	Restore, Check, Forget                 all charges
//
// The account of a tenant for a key is found in O(log m) with m keys used in its
// subtree, and the first use of a key by a tenant makes one in O(m).
//
// A lend limit makes the level above G the only part that goes up, so where a
// window crosses G many times the change goes up in pieces: in the worst case one
// per change of level inside the window, and each costs O(log n) at every tenant
// above. The same holds for Guaranteed charges and nominals. Without lend limits
// (the default) a change stays one piece. Each charge costs about 1 kB with 1
// key and 4 levels.
//
// # Limits and non-goals
//
// Time counts in whole seconds. Limits do not change over time by themselves.
// Nothing is evicted: lowering a limit leaves a debt. A debt blocks what would
// add to the balance that is passed, and only that: a tenant may still use the
// private part of its quota while a cousin is in debt. Which hardware, and whether it is
// free, are questions for the allocator and the calendar. Keys are opaque, so
// units are never converted. Past use is kept until [Ledger.Forget], and counted
// under the present tree and limits.
package quota
