// SPDX-License-Identifier: Apache-2.0

package cow

import "sync/atomic"

// A Token is one epoch of an [Edit]. Tokens are compared by address, so a
// Token has a size: two of them never share an address.
type Token struct{ _ byte }

// An Edit is the right to change a set of containers in place.
// The zero Edit is ready for use.
//
// An Edit may be forked by many goroutines while nobody calls Token.
type Edit struct {
	tok    *Token
	shared uint32 // 1: something else sees the nodes made under tok
}

// Fork returns the Edit of an independent copy and makes e take a new token at
// its next change, because its nodes are now visible from both sides.
func (e *Edit) Fork() Edit {
	atomic.StoreUint32(&e.shared, 1)
	return Edit{}
}

// Token returns the token under which the caller may now change nodes. It is
// stable until the next Fork.
func (e *Edit) Token() *Token {
	if e.tok == nil || atomic.LoadUint32(&e.shared) == 1 {
		e.tok = new(Token)
		atomic.StoreUint32(&e.shared, 0)
	}
	return e.tok
}
