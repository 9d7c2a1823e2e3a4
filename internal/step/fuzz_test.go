// SPDX-License-Identifier: Apache-2.0

package step_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/internal/step"
)

// FuzzTree plays bytes as ranges, added or built, and as questions. Five bytes
// are one step: what, from, length, amount or limit, latest.
func FuzzTree(f *testing.F) {
	f.Add([]byte{0, 10, 20, 3, 0, 0, 15, 30, 2, 0, 2, 0, 9, 2, 255})
	f.Add([]byte{1, 10, 20, 3, 0, 1, 15, 30, 2, 0, 2, 0, 9, 2, 255, 3, 0, 0, 0, 0, 0, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, data []byte) {
		var w, was world
		var b step.Builder // holds all that w holds
		for ; len(data) >= 5; data = data[5:] {
			from, length, amount, latest := int64(data[1]), int64(data[2]), int64(int8(data[3])), int64(data[4])
			to := from + length
			if to >= span { // the array's last level goes on for ever
				to = step.Forever
			}
			switch data[0] % 4 {
			case 0:
				w.tree.Add(w.edit.Token(), from, to, amount)
				w.want.add(from, to, amount)
				b.Add(from, to, amount)
			case 1:
				b.Add(from, to, amount)
				w.want.add(from, to, amount)
				w.tree = b.Tree(w.edit.Token())
			case 2:
				got, ok := w.tree.FirstFit(from, latest, length+1, amount)
				want, wantOK := w.want.firstFit(from, latest, length+1, amount)
				require.Equal(t, fmt.Sprint(want, wantOK), fmt.Sprint(got, ok))
			case 3:
				was = *w.fork()
			}
		}
		for _, w := range []*world{&w, &was} {
			var got naive
			for at := range got {
				got[at] = w.tree.At(int64(at))
			}
			require.Equal(t, w.want, got)
		}
	})
}
