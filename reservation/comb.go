// SPDX-License-Identifier: Apache-2.0

package reservation

import "github.com/berth-gpu/berth/internal/tick"

// A comb is the ticks at + k·every for all whole k, or the one tick at if every
// is 0. The comb of every second has at 0 and every 1; otherwise
// 0 ≤ at < every ≤ timeSpan. Rules that fix where windows begin and end, and
// the steps of their lengths, are combs, and so is what several of them leave.
type comb struct{ at, every int64 }

const (
	timeSpan = lastTick - firstTick
	// maxEvery bounds the combs of a policy: timeSpan · maxEvery is below 1<<62.
	maxEvery = 100 * 24 * 3600
)

// everySecond is the comb without gaps.
func everySecond() comb { return comb{0, 1} }

// combOf returns the comb through at; every must be at least 1.
func combOf(at, every int64) comb { return comb{mod(at, every), every} }

// shift returns the ticks of c moved by d.
func (c comb) shift(d int64) comb {
	if c.every == 0 {
		return comb{c.at + d, 0}
	}
	return combOf(c.at+mod(d, c.every), c.every)
}

func (c comb) has(t int64) bool {
	if c.every == 0 {
		return t == c.at
	}
	return mod(t-c.at, c.every) == 0
}

// up returns the least tick of c from t on, down the greatest up to t; ok is
// false outside the range of time.
func (c comb) up(t int64) (at int64, ok bool) {
	at = c.at
	if c.every > 0 {
		at = t + mod(c.at-t, c.every)
	}
	return at, at >= t && at <= lastTick
}

func (c comb) down(t int64) (at int64, ok bool) {
	at = c.at
	if c.every > 0 {
		at = t - mod(t-c.at, c.every)
	}
	return at, at <= t && at >= firstTick
}

// meet returns the ticks that c and o have in common; o.every must be in 1 …
// maxEvery. It is the Chinese remainder theorem: with g = gcd(c.every, o.every)
// the combs meet if g divides the distance of their teeth, and then once in
// every lcm.
func (c comb) meet(o comb) (comb, bool) {
	if c.every == 0 {
		return c, o.has(c.at)
	}
	g, inverse := euclid(c.every, o.every)
	d := o.at - c.at
	if d%g != 0 {
		return comb{}, false
	}
	m := o.every / g
	k := mod(d/g, m) * mod(inverse, m) % m
	at, lcm := c.at+c.every*k, c.every*m // 0 ≤ at < lcm
	if lcm <= timeSpan {
		return comb{at, lcm}, true
	}
	if at > lastTick { // at most one tick is in the range of time
		at -= lcm
	}
	return comb{at, 0}, tick.InRange(at)
}

// euclid returns g = gcd(a, b) and x with a·x ≡ g (mod b).
func euclid(a, b int64) (g, x int64) {
	x, y := int64(1), int64(0)
	for b != 0 {
		q := a / b
		a, b = b, a-q*b
		x, y = y, x-q*y
	}
	return a, x
}

// mod returns a modulo m in 0 … m − 1.
func mod(a, m int64) int64 {
	if a %= m; a < 0 {
		a += m
	}
	return a
}
