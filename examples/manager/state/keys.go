// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/btree"
)

// ErrKeyReused is returned when a request key comes back with another request.
var ErrKeyReused = errors.New("request key was used for another request")

// KeepKeys is how long a request key is remembered.
const KeepKeys = 24 * time.Hour

// MaxKey bounds a request key, in bytes.
const MaxKey = 200

// requestKeys remembers what the API's callers were answered, so that a retry
// after a lost answer is answered the same and does nothing.
type requestKeys struct {
	byKey *btree.BTreeG[Header]
	byAge *btree.BTreeG[Header]
	mu    *sync.Mutex
}

func newRequestKeys() *requestKeys {
	return &requestKeys{
		byKey: btree.NewG(32, func(a, b Header) bool { return cmp.Or(cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Key, b.Key)) < 0 }),
		byAge: btree.NewG(32, func(a, b Header) bool {
			if !a.At.Equal(b.At) {
				return a.At.Before(b.At)
			}
			return cmp.Or(cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Key, b.Key)) < 0
		}),
		mu: new(sync.Mutex),
	}
}

func (k *requestKeys) fork() *requestKeys {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &requestKeys{byKey: k.byKey.Clone(), byAge: k.byAge.Clone(), mu: new(sync.Mutex)}
}

func (k *requestKeys) find(actor, key, digest string) (json.RawMessage, bool, error) {
	h, ok := k.byKey.Get(Header{Actor: actor, Key: key})
	if !ok || key == "" {
		return nil, false, nil
	}
	if h.Digest != digest {
		return nil, false, fmt.Errorf("%w: key %q belongs to a %s of %s", ErrKeyReused, key, h.Command, h.At.Format(time.RFC3339))
	}
	return h.Answer, true, nil
}

// put remembers h and forgets what is older than KeepKeys before it.
func (k *requestKeys) put(h Header) {
	if old, ok := k.byKey.Get(h); ok {
		k.byAge.Delete(old)
	}
	k.byKey.ReplaceOrInsert(h)
	k.byAge.ReplaceOrInsert(h)
	for {
		old, ok := k.byAge.Min()
		if !ok || !old.At.Before(h.At.Add(-KeepKeys)) {
			return
		}
		k.byAge.Delete(old)
		k.byKey.Delete(old)
	}
}

func (k *requestKeys) list() []Header {
	var out []Header
	k.byKey.Ascend(func(h Header) bool { out = append(out, h); return true })
	return out
}
