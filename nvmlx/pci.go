// SPDX-License-Identifier: Apache-2.0

package nvmlx

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrInvalidPCIAddress is matched by every refusal of [ParsePCIAddress].
var ErrInvalidPCIAddress = errors.New("nvmlx: invalid PCI address")

// PCIAddress is where a device sits on the PCI buses of its machine. The zero value is address 0000:00:00.0, which belongs to a host
// bridge and never to a GPU.
//
// The canonical text is the kernel's, as in /sys/bus/pci/devices: "0000:17:00.0", lower-case hexadecimal, at least four digits of
// domain. NVML prints eight digits of domain ("00000000:17:00.0"), kernel messages of the driver leave out the function
// ("PCI:0000:17:00"); both parse to the same value.
//
// A PCIAddress is immutable and safe for concurrent use.
type PCIAddress struct {
	Domain   uint32
	Bus      uint8
	Device   uint8 // 0 to 31
	Function uint8 // 0 to 7
}

// Limits of the two fields that are narrower than their Go type (PCI Local Bus Specification 3.0, §3.2.2.3).
const (
	maxPCIDevice   = 31
	maxPCIFunction = 7
)

// ParsePCIAddress reads domain:bus:device.function. Domain has four to eight hexadecimal digits, bus and device two, function one;
// upper and lower case are equal; a prefix "PCI:" is dropped; a missing function is 0. An address without a domain is refused: on a
// machine with several domains it would be a guess. Cost: O(len(text)).
//
// Possible errors: [ErrInvalidPCIAddress].
func ParsePCIAddress(text string) (PCIAddress, error) {
	parts := strings.Split(strings.TrimPrefix(text, "PCI:"), ":")
	if len(parts) != 3 {
		return PCIAddress{}, pciError(text, "want domain:bus:device.function, for example 0000:17:00.0")
	}
	device, function, dotted := strings.Cut(parts[2], ".")
	if !dotted {
		function = "0"
	}
	fields := []struct {
		name             string
		text             string
		shortest, digits int
		most             uint64
		value            uint64
	}{
		{name: "domain", text: parts[0], shortest: 4, digits: 8, most: 1<<32 - 1},
		{name: "bus", text: parts[1], shortest: 2, digits: 2, most: 1<<8 - 1},
		{name: "device", text: device, shortest: 2, digits: 2, most: maxPCIDevice},
		{name: "function", text: function, shortest: 1, digits: 1, most: maxPCIFunction},
	}
	for i := range fields {
		field := &fields[i]
		if len(field.text) < field.shortest || len(field.text) > field.digits {
			return PCIAddress{}, pciError(text, fmt.Sprintf("%s %q needs %d to %d hexadecimal digits", field.name, field.text, field.shortest, field.digits))
		}
		value, err := strconv.ParseUint(field.text, 16, 32)
		if err != nil {
			return PCIAddress{}, pciError(text, fmt.Sprintf("%s %q is not hexadecimal", field.name, field.text))
		}
		if value > field.most {
			return PCIAddress{}, pciError(text, fmt.Sprintf("%s %q is above %x", field.name, field.text, field.most))
		}
		field.value = value
	}
	return PCIAddress{
		Domain:   uint32(fields[0].value),
		Bus:      uint8(fields[1].value),
		Device:   uint8(fields[2].value),
		Function: uint8(fields[3].value),
	}, nil
}

func pciError(text, problem string) error {
	return fmt.Errorf("%w %.100q: %s", ErrInvalidPCIAddress, text, problem)
}

// String is the canonical text.
func (a PCIAddress) String() string {
	return fmt.Sprintf("%04x:%02x:%02x.%x", a.Domain, a.Bus, a.Device, a.Function)
}

// Valid reports whether device and function are in range.
func (a PCIAddress) Valid() bool { return a.Device <= maxPCIDevice && a.Function <= maxPCIFunction }

// Compare orders addresses as the bus is walked: domain, bus, device, function. It returns -1, 0 or +1.
func (a PCIAddress) Compare(b PCIAddress) int {
	return cmp.Or(
		cmp.Compare(a.Domain, b.Domain),
		cmp.Compare(a.Bus, b.Bus),
		cmp.Compare(a.Device, b.Device),
		cmp.Compare(a.Function, b.Function),
	)
}

// MarshalText writes the canonical text, so that JSON shows an address as people know it.
//
// Possible errors: [ErrInvalidPCIAddress] for a value that is not [PCIAddress.Valid].
func (a PCIAddress) MarshalText() ([]byte, error) {
	if !a.Valid() {
		return nil, pciError(a.String(), "device is above 1f or function is above 7")
	}
	return []byte(a.String()), nil
}

// UnmarshalText reads what [ParsePCIAddress] reads.
//
// Possible errors: [ErrInvalidPCIAddress].
func (a *PCIAddress) UnmarshalText(text []byte) error {
	parsed, err := ParsePCIAddress(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}
