// SPDX-License-Identifier: Apache-2.0

package cdi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// DefaultKind is the kind that [New] writes if the config names none.
const DefaultKind = "berth.dev/gpu"

// ErrInvalidLease is matched by every refusal of a [Lease] and of [ParseDeviceName].
var ErrInvalidLease = errors.New("cdi: invalid lease")

// MaxLeaseID bounds the id of a lease in bytes, so that every file name fits into 255 bytes with any kind of up to 100.
const MaxLeaseID = 128

// Lease is what makes a name unique: the id of the lease and its epoch, which grows each time the lease changes hands.
//
// A Lease is immutable and safe for concurrent use.
type Lease struct {
	// ID begins and ends with a letter or digit; between them are also "-", "_" and ".". At most [MaxLeaseID] bytes.
	ID string
	// Epoch is at least 1.
	Epoch uint64
}

// Validate reports everything that is wrong.
//
// Possible errors: [ErrInvalidLease].
func (l Lease) Validate() error {
	var errs []error
	if !isName(l.ID, ".-_") || len(l.ID) > MaxLeaseID {
		errs = append(errs, fmt.Errorf("%w: id %q: want 1 to %d letters, digits, '-', '_' or '.', the first and the last a letter or digit",
			ErrInvalidLease, cut(l.ID), MaxLeaseID))
	}
	if l.Epoch == 0 {
		errs = append(errs, fmt.Errorf("%w: epoch 0 of lease %q: the first epoch is 1", ErrInvalidLease, cut(l.ID)))
	}
	return errors.Join(errs...)
}

// DeviceName is "<id>-e<epoch>" (E3). Different leases have different names, because an epoch is digits only.
//
// Possible errors: [ErrInvalidLease].
func (l Lease) DeviceName() (string, error) {
	if err := l.Validate(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-e%d", l.ID, l.Epoch), nil
}

// ParseDeviceName is the inverse of [Lease.DeviceName]: a host that finds a document can tell whose it was.
//
// Possible errors: [ErrInvalidLease].
func ParseDeviceName(name string) (Lease, error) {
	if cut := strings.LastIndex(name, "-e"); cut >= 0 {
		epoch, err := strconv.ParseUint(name[cut+2:], 10, 64)
		lease := Lease{ID: name[:cut], Epoch: epoch}
		if again, nameErr := lease.DeviceName(); err == nil && nameErr == nil && again == name {
			return lease, nil
		}
	}
	return Lease{}, fmt.Errorf("%w: device name %q: want <lease id>-e<epoch>", ErrInvalidLease, cut(name))
}

// FileName is the base name of the lease's document: "<vendor>-<class>_<device name>.json", the form that the CDI library gives to
// transient documents. It holds no path separator and never starts with a dot, whatever it is given.
//
// Possible errors: [ErrInvalidLease], [ErrInvalidSpec] for the kind.
func (l Lease) FileName(kind string) (string, error) {
	device, err := l.DeviceName()
	if err := errors.Join(err, validateKind(kind)); err != nil {
		return "", err
	}
	vendor, class, _ := strings.Cut(kind, "/")
	name := vendor + "-" + class + "_" + device + ".json"
	if len(name) > maxFileName {
		return "", fmt.Errorf("%w: file name %q has %d bytes: a file system allows %d, choose a shorter kind or lease id", ErrInvalidSpec, cut(name), len(name), maxFileName)
	}
	return name, nil
}

// maxFileName is NAME_MAX of Linux file systems.
const maxFileName = 255

// QualifiedName is what a container asks a runtime for: "<kind>=<device name>".
//
// Possible errors: [ErrInvalidLease], [ErrInvalidSpec] for the kind.
func (l Lease) QualifiedName(kind string) (string, error) {
	device, err := l.DeviceName()
	if err := errors.Join(err, validateKind(kind)); err != nil {
		return "", err
	}
	return kind + "=" + device, nil
}

// validateKind checks vendor/class: both begin with a letter and end with a letter or digit, with "-", "_" and "." between.
func validateKind(kind string) error {
	vendor, class, found := strings.Cut(kind, "/")
	for _, part := range []struct {
		name, text string
		most       int
	}{{"vendor", vendor, 253}, {"class", class, 63}} {
		if !found || !isName(part.text, ".-_") || isDigit(part.text[0]) || len(part.text) > part.most {
			return fmt.Errorf("%w: kind %q: want vendor/class; the %s is 1 to %d letters, digits, '-', '_' or '.', the first a letter, the last a letter or digit",
				ErrInvalidSpec, cut(kind), part.name, part.most)
		}
	}
	return nil
}

// isName reports whether text is not empty, begins and ends with an ASCII letter or digit, and has only those and the marks between.
func isName(text, marks string) bool {
	for i := range len(text) {
		c := text[i]
		inside := i > 0 && i < len(text)-1 && strings.IndexByte(marks, c) >= 0
		if !isLetter(c) && !isDigit(c) && !inside {
			return false
		}
	}
	return text != ""
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
