// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"iter"

	"github.com/berth-gpu/berth/internal/cow"
)

// directory holds values by name. The names lie in the set itself, so a look-up
// needs no key that looks like a value, and touches one value, the right one.
type directory[T any] struct{ set cow.Sorted[entry[T]] }

type entry[T any] struct {
	name string
	v    T
}

func newDirectory[T any]() directory[T] {
	return directory[T]{cow.NewSorted(func(a, b entry[T]) bool { return a.name < b.name })}
}

// Len returns the number of values.
func (d *directory[T]) Len() int { return d.set.Len() }

// Find returns the value of a name, the zero value if there is none.
func (d *directory[T]) Find(name string) T {
	e, _ := d.set.Find(entry[T]{name: name})
	return e.v
}

// Put sets the value of a name.
func (d *directory[T]) Put(tok *cow.Token, name string, v T) { d.set.Put(tok, entry[T]{name, v}) }

// Remove forgets a name.
func (d *directory[T]) Remove(tok *cow.Token, name string) { d.set.Remove(tok, entry[T]{name: name}) }

// All yields the values by name.
func (d *directory[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for e := range d.set.All() {
			if !yield(e.v) {
				return
			}
		}
	}
}

// From yields the values from a name on.
func (d *directory[T]) From(name string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for e := range d.set.From(entry[T]{name: name}) {
			if !yield(e.v) {
				return
			}
		}
	}
}
