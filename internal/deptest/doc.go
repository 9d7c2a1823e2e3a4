// SPDX-License-Identifier: Apache-2.0

// Package deptest holds the rules of the house as data and checks the source of
// this module against them: which package may import which, what a pure
// package may not do, what every file must carry. Its tests run the rules over
// the whole module, and over planted violations to show that each rule bites.
package deptest
