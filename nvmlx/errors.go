// SPDX-License-Identifier: Apache-2.0

package nvmlx

import (
	"errors"
	"fmt"
	"strings"
)

// One sentinel per [Kind]; errors.Is finds it in every [*Error] of that kind.
var (
	ErrUnsupported    = errors.New("nvmlx: not supported by this driver, board or platform")
	ErrNotInitialised = errors.New("nvmlx: library is not initialised")
	ErrNoPermission   = errors.New("nvmlx: no permission")
	ErrInUse          = errors.New("nvmlx: device or instance is in use")
	ErrInsufficient   = errors.New("nvmlx: not enough free resources on the device")
	ErrGPULost        = errors.New("nvmlx: GPU is lost")
	ErrResetRequired  = errors.New("nvmlx: GPU must be reset first")
	ErrTimeout        = errors.New("nvmlx: call did not return in time")
	ErrLibraryMissing = errors.New("nvmlx: NVIDIA library is missing")
	ErrSymbolMissing  = errors.New("nvmlx: NVIDIA library lacks a function")
	ErrUnknown        = errors.New("nvmlx: unknown error of the driver")
)

// Kind is the class of a refused call. The texts are stable: they are written into findings and logs.
//
// A Kind is immutable and safe for concurrent use.
type Kind string

// The kinds. KindTimeout means that the call had not returned when its context ended; it may still be running inside the driver.
// KindGPULost is a GPU that has fallen off the bus (XID 79). KindInsufficient is what NVML answers both when the room is taken and when
// the board has no such slice; only the caller's geometry can tell. KindUnknown carries the driver's own code in [Error].Code.
const (
	KindUnsupported    Kind = "unsupported"
	KindNotInitialised Kind = "not-initialised"
	KindNoPermission   Kind = "no-permission"
	KindInUse          Kind = "in-use"
	KindInsufficient   Kind = "insufficient"
	KindGPULost        Kind = "gpu-lost"
	KindResetRequired  Kind = "reset-required"
	KindTimeout        Kind = "timeout"
	KindLibraryMissing Kind = "library-missing"
	KindSymbolMissing  Kind = "symbol-missing"
	KindUnknown        Kind = "unknown"
)

// sentinel of a kind, and what the reader can do about it.
func (k Kind) facts() (advice string, sentinel error) {
	switch k {
	case KindUnsupported:
		return "do without it, or use another driver or board", ErrUnsupported
	case KindNotInitialised:
		return "open the library before the call", ErrNotInitialised
	case KindNoPermission:
		return "run as root or give the process access to the device files", ErrNoPermission
	case KindInUse:
		return "end the processes that hold it, then try again", ErrInUse
	case KindInsufficient:
		return "free a slice of this GPU or take another GPU", ErrInsufficient
	case KindGPULost:
		return "take the node out of service and reset or reboot it", ErrGPULost
	case KindResetRequired:
		return "drain the GPU and reset it", ErrResetRequired
	case KindTimeout:
		return "treat the GPU as unhealthy until a call returns", ErrTimeout
	case KindLibraryMissing:
		return "install the NVIDIA driver", ErrLibraryMissing
	case KindSymbolMissing:
		return "install a newer NVIDIA driver", ErrSymbolMissing
	default:
		return "look up the code in nvml.h", ErrUnknown
	}
}

// Error is a refused call of a [Lister], a [Device] or one of their capabilities. It matches the sentinel of its Kind; a Kind that this
// package does not know matches [ErrUnknown].
//
// An Error is immutable and safe for concurrent use.
type Error struct {
	Kind Kind `json:"kind"`
	// Op is the operation, lower camel case: "devices", "memory", "setMIGMode".
	Op string `json:"op,omitempty"`
	// Device is the UUID of the GPU, or "index <n>" where the UUID could not be read; empty for a call on the machine.
	Device string `json:"device,omitempty"`
	// Code is the driver's own number, 0 if there is none.
	Code int `json:"code,omitempty"`
	// Detail is what the driver said or what was tried, for people.
	Detail string `json:"detail,omitempty"`
	// Cause is an error that led to this one, for example that of the context; nil if there is none. It is not written as JSON.
	Cause error `json:"-"`
}

// Error says the sentinel's text, what was tried on which device, and what to do next.
func (e *Error) Error() string {
	advice, sentinel := e.Kind.facts()
	var text strings.Builder
	text.WriteString(sentinel.Error())
	if e.Op != "" {
		fmt.Fprintf(&text, ": %s", e.Op)
	}
	if e.Device != "" {
		fmt.Fprintf(&text, " of GPU %q", e.Device)
	}
	if e.Code != 0 {
		fmt.Fprintf(&text, ": code %d", e.Code)
	}
	if e.Detail != "" {
		fmt.Fprintf(&text, ": %s", e.Detail)
	}
	if e.Cause != nil {
		fmt.Fprintf(&text, ": %v", e.Cause)
	}
	fmt.Fprintf(&text, " (%s)", advice)
	return text.String()
}

// Is reports whether target is the sentinel of this error's kind.
func (e *Error) Is(target error) bool {
	_, sentinel := e.Kind.facts()
	return target == sentinel
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }
