// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names of hardware. They are the caller's strings; see [New] for what a name may contain.
type (
	// A NodeID names a node, for example its host name. A NodeID is immutable and safe for concurrent use.
	NodeID string
	// A GPUID names a physical GPU, for example the UUID that NVML reports. A node whose GPUs were given no ids has ids of
	// the form "node/0". A GPUID is immutable and safe for concurrent use.
	GPUID string
	// A DomainID is the path of names that leads to a domain, coarsest first, joined by "/". Within one level it is unique.
	// A DomainID is immutable and safe for concurrent use.
	DomainID string
	// A Level names a kind of domain, for example "rack". A Level is immutable and safe for concurrent use.
	Level string
	// A Family names a tree of levels over the nodes; "" is the primary one. A Family is immutable and safe for concurrent use.
	Family string
)

// Dense ordinals: small integers, from 0, made for array indexes. A cluster and every cluster edited from it agree on them.
type (
	// A NodeIndex is the ordinal of a node. A NodeIndex is immutable and safe for concurrent use.
	NodeIndex int32
	// A DomainIndex is the ordinal of a domain, of whatever level. A DomainIndex is immutable and safe for concurrent use.
	DomainIndex int32
	// A LevelIndex is the ordinal of a level: the primary family first, coarse to fine, then the overlay families.
	// A LevelIndex is immutable and safe for concurrent use.
	LevelIndex int32
)

// What a query answers when there is nothing to answer with.
const (
	NoNode   NodeIndex   = -1
	NoDomain DomainIndex = -1
	NoLevel  LevelIndex  = -1
)

// Limits that keep arithmetic and memory safe whatever the input.
const (
	MaxGPUsPerNode = 1024    // GPUs of one node
	MaxLevels      = 64      // levels of all families together
	MaxNameBytes   = 512     // bytes of one name
	MaxNodes       = 1 << 22 // node ordinals of one cluster, departed nodes included
)

const nameHint = `use 1 to 512 bytes of UTF-8 without "/" and without control characters`

// validName accepts what can be one segment of a path.
func validName(s string) bool {
	return s != "" && len(s) <= MaxNameBytes && !strings.Contains(s, "/") && validText(s)
}

// validText accepts what survives a trip through JSON and a log line unchanged.
func validText(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}
