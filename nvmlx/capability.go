// SPDX-License-Identifier: Apache-2.0

package nvmlx

import (
	"fmt"
	"reflect"
)

// maxWrapping bounds the walk of [As], so that a value that unwraps to itself cannot stop the caller.
const maxWrapping = 16

// As finds the capability T, one of this package's small interfaces, in a Device or a Lister. This is the only way to ask for one: a
// direct type assertion misses what a wrapper hides. A wrapper (a cache, a recorder, a fault injector) has a method Unwrap that
// returns the [Device] or [Lister] inside; As looks at the outermost value first, so a wrapper can also replace a capability.
//
//	ecc, err := nvmlx.As[nvmlx.ECC](device)
//
// Possible errors: [ErrUnsupported] if no layer has the capability. A capability that is found may still refuse its calls with
// ErrUnsupported, because only the board knows. Cost: O(depth of wrapping), at most 16 layers.
func As[T any](value any) (T, error) {
	for range maxWrapping {
		if capability, ok := value.(T); ok {
			return capability, nil
		}
		switch layer := value.(type) {
		case interface{ Unwrap() Device }:
			value = layer.Unwrap()
		case interface{ Unwrap() Lister }:
			value = layer.Unwrap()
		default:
			value = nil
		}
		if value == nil {
			break
		}
	}
	var none T
	return none, &Error{
		Kind:   KindUnsupported,
		Op:     "as",
		Detail: fmt.Sprintf("this implementation has no %v", reflect.TypeFor[T]()),
	}
}
