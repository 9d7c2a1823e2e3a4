// SPDX-License-Identifier: Apache-2.0

// Package demo drives the manager with a real trace: jobs of the openb list
// arrive on an accelerated clock, run as long as they ran, and end; four teams
// book nodes over the next 14 days; now and then a node breaks.
//
// The trace's 8,152 tasks were sampled from a cluster over 149 days, and half of
// them ran less than nine minutes, so as they stand they would keep 30 of the
// 6,212 GPUs busy. The demo keeps their order and shapes, stretches how long they
// run ([Stretch]-fold, between [Shortest] and [Longest]), and lets them arrive so
// fast that the GPU time asked for is a given share of what the fleet has. When
// the trace is through it begins again under new ids.
package demo
