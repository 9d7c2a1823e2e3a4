// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// The reasons of this package. They arrive wrapped with the field and the value; test them with [errors.Is].
var (
	// ErrInvalid says that an argument is outside what its field allows.
	ErrInvalid = errors.New("allocator: invalid value")
	// ErrUnknownNode says that the cluster has never had a node of that name.
	ErrUnknownNode = errors.New("allocator: unknown node")
	// ErrExists says that the id is in use by a request with another body.
	ErrExists = errors.New("allocator: id is in use by another request")
	// ErrUnplaceable says that a request has no place; the error is an [*UnplaceableError].
	ErrUnplaceable = errors.New("allocator: no place")
	// ErrStale says that something a plan needs is gone; plan again.
	ErrStale = errors.New("allocator: plan is stale")
	// ErrInUse says that what is placed or held stands against the command.
	ErrInUse = errors.New("allocator: in use")
	// ErrCluster says that a cluster is not the one that an event or a snapshot speaks of, or does not continue the one the
	// fleet stands on.
	ErrCluster = errors.New("allocator: not the fleet's cluster or a successor of it")
	// ErrPolicy says that a policy picked GPUs that do not fit; the policy breaks its contract.
	ErrPolicy = errors.New("allocator: policy broke its contract")
	// ErrContradiction says that an event does not follow from the state it is applied to.
	ErrContradiction = errors.New("allocator: event contradicts the state")
	// ErrCorrupt says that bytes are not what this package wrote.
	ErrCorrupt = errors.New("allocator: corrupt encoding")
)

// Limits that keep arithmetic and memory safe whatever the input.
const (
	MaxAmount  = 1 << 40 // largest amount of one resource of one pod or one node
	MaxPods    = 1 << 20 // pods of one request
	MaxModels  = 1024    // GPU models that one request accepts
	MaxIDBytes = 256     // bytes of a request id, claim, tenant, group name, model, owner or reason
)

// gpuMilli is one whole GPU in thousandths.
const gpuMilli = 1000

// refuse builds an error that names the field and the value.
func refuse(reason error, field string, value any, advice string) error {
	if s, ok := value.(string); ok {
		value = fmt.Sprintf("%.80q", s)
	}
	return fmt.Errorf("%w: %s is %v: %s", reason, field, value, advice)
}

// badText says what is wrong with a name of the caller, or nothing.
func badText(field, s string, empty bool) error {
	switch {
	case s == "" && !empty:
		return refuse(ErrInvalid, field, s, "give 1 to 256 bytes")
	case len(s) > MaxIDBytes:
		return refuse(ErrInvalid, field, s, fmt.Sprintf("it has %d bytes; give at most %d", len(s), MaxIDBytes))
	case !utf8.ValidString(s):
		return refuse(ErrInvalid, field, s, "give valid UTF-8")
	}
	for _, c := range s {
		if unicode.IsControl(c) {
			return refuse(ErrInvalid, field, s, "leave out control characters")
		}
	}
	return nil
}
