// SPDX-License-Identifier: Apache-2.0

package store

// OpenWithoutSync is Open of a journal that forgets to sync: what the test of
// power cuts must notice.
func OpenWithoutSync(path string) (*Bolt, error) {
	b, err := Open(path)
	if err == nil {
		b.db.NoSync = true
	}
	return b, err
}
