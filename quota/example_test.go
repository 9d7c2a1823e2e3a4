// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/quota"
)

var morning = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

func lab() *quota.Ledger {
	ledger, err := quota.New(quota.Config{Tenants: []quota.Tenant{
		{Name: "lab"},
		{Name: "vision", Parent: "lab", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 64}}},
		{Name: "speech", Parent: "lab", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 32, Lend: quota.AtMost(16)}}},
	}})
	if err != nil {
		panic(err)
	}
	return ledger
}

func request(id, tenant string, n int64) quota.Request {
	return quota.Request{
		ID: id, Tenant: tenant, Class: quota.Preemptible,
		Amounts: []quota.Amount{{Key: "gpu/h100", N: n}},
		Window:  quota.Window{Start: morning, End: morning.Add(24 * time.Hour)},
	}
}

// The package's usage: fork, ask, and either publish or read the refusal.
func Example() {
	ledger, err := quota.New(quota.Config{Tenants: []quota.Tenant{
		{Name: "lab"},
		{Name: "vision", Parent: "lab", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 64}}},
		{Name: "speech", Parent: "lab", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 32, Lend: quota.AtMost(16)}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	next := ledger.Fork()
	_, err = next.Reserve(now, quota.Request{
		ID: "train-7", Tenant: "vision", Class: quota.Preemptible,
		Amounts: []quota.Amount{{Key: "gpu/h100", N: 96}},
		Window:  quota.Window{Start: now.Add(time.Hour), End: now.Add(25 * time.Hour)},
		TTL:     10 * time.Minute,
	})
	if exceeded, ok := errors.AsType[*quota.ExceededError](err); ok {
		for _, b := range exceeded.Blockers {
			fmt.Printf("%s of %s lacks %d\n", b.Kind, b.Tenant, b.Deficit)
		}
	}
	// Output: root-quota of lab lacks 16
}

func ExampleLedger_Usage() {
	ledger := lab()
	if _, err := ledger.Book(morning, request("train-7", "vision", 72)); err != nil {
		fmt.Println(err)
	}
	for _, name := range []string{"lab", "vision", "speech"} {
		u, _ := ledger.Usage(name, "gpu/h100", morning)
		fmt.Printf("%-6s nominal %2d used %2d borrowed %d lent %d available %d\n", name, u.Nominal, u.Used, u.Borrowed, u.Lent, u.Available)
	}
	// Output:
	// lab    nominal  0 used 72 borrowed 0 lent 0 available 8
	// vision nominal 64 used 72 borrowed 8 lent 0 available 8
	// speech nominal 32 used  0 borrowed 0 lent 8 available 24
}

// A hold counts like a committed charge until it expires.
func ExampleLedger_Reserve() {
	ledger := lab()
	hold := request("train-7", "vision", 64)
	hold.TTL = 10 * time.Minute
	c, _ := ledger.Reserve(morning, hold)
	fmt.Println(c.State, "until", c.Expires.Format(time.TimeOnly))

	c, _ = ledger.Commit(morning.Add(5*time.Minute), "train-7", []quota.Amount{{Key: "gpu/h100", N: 48}})
	fmt.Println(c.State, c.Amounts[0].N)

	hold.ID = "train-8"
	hold.Amounts = []quota.Amount{{Key: "gpu/h100", N: 16}}
	_, _ = ledger.Reserve(morning.Add(6*time.Minute), hold)
	_, err := ledger.Commit(morning.Add(time.Hour), "train-8", nil)
	fmt.Println(err)
	// Output:
	// held until 08:10:00
	// committed 48
	// quota: hold has expired: charge "train-8" expired at 2026-03-02T08:16:00Z; reserve again under a new id
}

// Growing is checked with the old charge removed; the past stays as it was.
func ExampleLedger_Resize() {
	ledger := lab()
	_, _ = ledger.Book(morning, request("train-7", "vision", 64))
	c, err := ledger.Resize(morning.Add(time.Hour), "train-7", []quota.Amount{{Key: "gpu/h100", N: 80}}, quota.Window{})
	fmt.Println(err)
	for _, s := range c.Spans {
		fmt.Println(s.Window, s.Amounts[0].N)
	}
	// Output:
	// <nil>
	// 2026-03-02T08:00:00Z/2026-03-02T09:00:00Z 64
	// 2026-03-02T09:00:00Z/2026-03-03T08:00:00Z 80
}

// Guaranteed charges never rely on what others lend.
func ExampleLedger_Available() {
	ledger := lab()
	w := quota.Window{Start: morning, End: morning.Add(time.Hour)}
	fmt.Println("preemptible", ledger.Available(morning, "vision", "gpu/h100", quota.Preemptible, w))
	fmt.Println("guaranteed", ledger.Available(morning, "vision", "gpu/h100", quota.Guaranteed, w))
	// Output:
	// preemptible 80
	// guaranteed 64
}

// Lowering a limit evicts nobody: it leaves a debt that nothing may make worse.
func ExampleLedger_SetTenant() {
	ledger := lab()
	_, _ = ledger.Book(morning, request("train-7", "vision", 64))
	_ = ledger.SetTenant(morning, quota.Tenant{Name: "vision", Parent: "lab", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 40}}})
	u, _ := ledger.Usage("lab", "gpu/h100", morning)
	fmt.Println("debt", u.Debt)
	fmt.Println(errors.Is(ledger.Fits(morning, request("more", "vision", 1)), quota.ErrExceeded))
	_, err := ledger.Resize(morning, "train-7", []quota.Amount{{Key: "gpu/h100", N: 60}}, quota.Window{})
	fmt.Println("shrink:", err)
	// Output:
	// debt 8
	// true
	// shrink: <nil>
}

// What-if is a fork that nobody publishes.
func ExampleLedger_Fork() {
	ledger := lab()
	what := ledger.Fork()
	_ = what.SetTenant(morning, quota.Tenant{Name: "speech", Parent: "lab", Limits: []quota.Limit{{Key: "gpu/h100", Nominal: 32}}})
	big := request("train-7", "vision", 96)
	fmt.Println(ledger.Fits(morning, big) == nil, what.Fits(morning, big) == nil)
	// Output: false true
}

func ExampleLedger_UsageOver() {
	ledger := lab()
	_, _ = ledger.Book(morning, request("train-7", "vision", 16))
	night := request("train-8", "vision", 56)
	night.Window = quota.Window{Start: morning.Add(12 * time.Hour), End: morning.Add(20 * time.Hour)}
	_, _ = ledger.Book(morning, night)
	for v := range ledger.UsageOver("vision", "gpu/h100", quota.Window{Start: morning, End: morning.Add(24 * time.Hour)}) {
		fmt.Println(v.Start.Format(time.Kitchen), v.Used, v.Borrowed)
	}
	// Output:
	// 8:00AM 16 0
	// 8:00PM 72 8
	// 4:00AM 16 0
}

// A refusal is data, and has a view for those whom it is not about.
func ExampleExceededError_For() {
	ledger := lab()
	err := ledger.Fits(morning, request("train-7", "vision", 96))
	if exceeded, ok := errors.AsType[*quota.ExceededError](err); ok {
		own, _ := json.Marshal(exceeded.For("vision").Blockers[0])
		other, _ := json.Marshal(exceeded.For("speech").Blockers[0])
		fmt.Println(string(own))
		fmt.Println(string(other))
	}
	// Output:
	// {"tenant":"lab","key":"gpu/h100","kind":"root-quota","at":{"start":"2026-03-02T08:00:00Z","end":"2026-03-03T08:00:00Z"},"peak":"2026-03-02T08:00:00Z","limit":80,"used":0,"need":96,"deficit":16}
	// {"tenant":"","key":"gpu/h100","kind":"root-quota","at":{"start":"2026-03-02T08:00:00Z","end":"2026-03-03T08:00:00Z"},"peak":"2026-03-02T08:00:00Z","limit":80,"used":0,"need":96,"deficit":16}
}

// The log of one ledger, replayed on another, gives the same ledger.
func ExampleLedger_Apply() {
	ledger := lab()
	copied := ledger.Fork()
	_, _ = ledger.Book(morning, request("train-7", "vision", 16))
	_, _ = ledger.Release(morning.Add(time.Hour), "train-7")
	for _, ev := range ledger.TakeEvents() {
		raw, _ := ev.AppendBinary(nil)
		back, _ := quota.DecodeEvent(raw)
		if err := copied.Apply(back); err != nil {
			fmt.Println(err)
		}
	}
	a, _ := ledger.MarshalBinary()
	b, _ := copied.MarshalBinary()
	fmt.Println(string(a) == string(b))
	// Output: true
}

// Holds expire and windows end when the host advances the ledger.
func ExampleLedger_Advance() {
	ledger := lab()
	hold := request("train-7", "vision", 16)
	hold.TTL = time.Minute
	_, _ = ledger.Reserve(morning, hold)
	ledger.TakeEvents()
	next, _ := ledger.Next()
	ledger.Advance(next)
	for _, ev := range ledger.Events() {
		b, _ := quota.EventJSON(ev)
		fmt.Println(string(b))
	}
	// Output: {"kind":"expired","at":"2026-03-02T08:01:00Z","id":"train-7"}
}
