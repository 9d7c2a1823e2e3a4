// SPDX-License-Identifier: Apache-2.0

package nvmlx

import "context"

// Lister is one machine with its GPUs. Every refusal is an [*Error].
//
// A Lister is safe for concurrent use by multiple goroutines.
type Lister interface {
	// Devices lists the GPUs in ascending [Index]. A lost GPU that the driver still counts is listed; its own calls fail.
	Devices(ctx context.Context) ([]Device, error)
	// DriverVersion is the version of the kernel driver, as "580.95.05".
	DriverVersion(ctx context.Context) (string, error)
	// CUDAVersion is the newest CUDA version that the driver serves, as "13.0".
	CUDAVersion(ctx context.Context) (string, error)
}

// Device is one GPU and answers for its identity; [As] finds what else it can do. Every refusal is an [*Error].
//
// A Device is safe for concurrent use by multiple goroutines.
type Device interface {
	Index(ctx context.Context) (Index, error)
	Minor(ctx context.Context) (Minor, error)
	UUID(ctx context.Context) (UUID, error)
	PCI(ctx context.Context) (PCIAddress, error)
	// Name is the product name, as "NVIDIA H100 80GB HBM3".
	Name(ctx context.Context) (string, error)
	// Memory is refused with [ErrUnsupported] by boards that have none of their own (GB10, Jetson).
	Memory(ctx context.Context) (Memory, error)
}

// Unsupported is the Lister of a platform without NVML: every call is refused with [ErrUnsupported]. A host that expects GPUs on such a
// machine should refuse to start; "no GPUs" would be a lie.
//
// An Unsupported is immutable and safe for concurrent use.
type Unsupported struct {
	// Reason is put into every error, for example "built without cgo". Empty means "no NVML on this platform".
	Reason string
}

var _ Lister = Unsupported{}

// Devices always fails. Possible errors: [ErrUnsupported].
func (u Unsupported) Devices(context.Context) ([]Device, error) { return nil, u.refuse("devices") }

// DriverVersion always fails. Possible errors: [ErrUnsupported].
func (u Unsupported) DriverVersion(context.Context) (string, error) {
	return "", u.refuse("driverVersion")
}

// CUDAVersion always fails. Possible errors: [ErrUnsupported].
func (u Unsupported) CUDAVersion(context.Context) (string, error) {
	return "", u.refuse("cudaVersion")
}

func (u Unsupported) refuse(op string) error {
	reason := u.Reason
	if reason == "" {
		reason = "no NVML on this platform"
	}
	return &Error{Kind: KindUnsupported, Op: op, Detail: reason}
}
