// SPDX-License-Identifier: Apache-2.0

package nvmlx

import "context"

// MIGControl is the capability of a [Device] that can be cut into slices (Multi-Instance GPU).
//
// A MIGControl is safe for concurrent use by multiple goroutines.
type MIGControl interface {
	// MIGMode reads the mode. Possible errors: [ErrUnsupported] on a board without MIG.
	MIGMode(ctx context.Context) (MIGMode, error)
	// SetMIGMode asks for the mode and tells what came of it. It may change the minor number of the GPU: read the inventory again.
	// Possible errors: [ErrUnsupported], [ErrNoPermission], [ErrInUse].
	SetMIGMode(ctx context.Context, enabled bool) (MIGChange, error)
}

// MIGChange is the answer to a change of the MIG mode. The call can succeed although the mode has not changed yet.
//
// A MIGChange is immutable and safe for concurrent use.
type MIGChange struct {
	MIGMode
	// Waits says why Current is not Pending yet: [KindResetRequired] or [KindInUse]; empty if the mode is in force.
	Waits Kind `json:"waits,omitempty"`
}

// EventSource is the capability of a [Lister] to report what happens to its GPUs.
//
// An EventSource is safe for concurrent use by multiple goroutines.
type EventSource interface {
	// Subscribe registers every GPU once. The caller closes the subscription.
	Subscribe(ctx context.Context) (Subscription, error)
}

// Subscription delivers events in the order in which the driver reported them, from its start on.
//
// A Subscription is safe for concurrent use by multiple goroutines.
type Subscription interface {
	// Next waits for one event. Possible errors: [ErrTimeout] when the context ends, [ErrNotInitialised] after Close.
	Next(ctx context.Context) (Event, error)
	// Close ends the subscription and lets a waiting Next return. A second Close does nothing.
	Close() error
}

// EventType says what an [Event] reports. The texts are stable.
type EventType string

// The event types; each is one bit of NVML's event set (nvml.h, nvmlEventType*).
const (
	EventXID          EventType = "xid"
	EventSingleBitECC EventType = "single-bit-ecc"
	EventDoubleBitECC EventType = "double-bit-ecc"
	EventMIGConfig    EventType = "mig-config"
)

// Event is one report of the driver about one GPU. It has no time: the host stamps it.
//
// An Event is immutable and safe for concurrent use.
type Event struct {
	Type EventType `json:"type"`
	GPU  UUID      `json:"gpu"`
	// XID is the code of an [EventXID], else 0. The catalogue is NVIDIA's "XID Errors".
	XID int64 `json:"xid,omitempty"`
}

// ECC is the capability of a [Device] to count memory errors.
//
// An ECC is safe for concurrent use by multiple goroutines.
type ECC interface {
	ECCErrors(ctx context.Context) (ECCErrors, error)
}

// ECCErrors are counts: volatile since the driver was loaded, aggregate over the life of the board.
//
// An ECCErrors is immutable and safe for concurrent use.
type ECCErrors struct {
	VolatileCorrected    int64 `json:"volatileCorrected"`
	VolatileUncorrected  int64 `json:"volatileUncorrected"`
	AggregateCorrected   int64 `json:"aggregateCorrected"`
	AggregateUncorrected int64 `json:"aggregateUncorrected"`
}

// RemappedRows is the capability of a [Device] to replace bad memory rows (Ampere and newer).
//
// A RemappedRows is safe for concurrent use by multiple goroutines.
type RemappedRows interface {
	RowRemap(ctx context.Context) (RowRemap, error)
}

// RowRemap counts replaced rows. Pending takes effect at the next reset; Failed is a reason to return the board.
//
// A RowRemap is immutable and safe for concurrent use.
type RowRemap struct {
	Correctable   int64 `json:"correctable"`
	Uncorrectable int64 `json:"uncorrectable"`
	Pending       bool  `json:"pending"`
	Failed        bool  `json:"failed"`
}

// Processes is the capability of a [Device] to list who uses it.
//
// A Processes is safe for concurrent use by multiple goroutines.
type Processes interface {
	// RunningProcesses lists compute, graphics and MPS clients in ascending PID.
	RunningProcesses(ctx context.Context) ([]Process, error)
}

// Process is one user of a GPU.
//
// A Process is immutable and safe for concurrent use.
type Process struct {
	PID int64 `json:"pid"`
	// UsedMiB is the GPU memory of the process in MiB; -1 where the driver does not say.
	UsedMiB int64 `json:"usedMiB"`
}
