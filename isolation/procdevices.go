// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrInvalidProcDevices is matched by every refusal of [ParseProcDevices].
var ErrInvalidProcDevices = errors.New("isolation: invalid /proc/devices")

// gpuDrivers are the names under which NVIDIA drivers register the major of GPUs and nvidiactl: "nvidia-frontend" up to release 535, then
// "nvidia" and "nvidiactl" with the same major.
var gpuDrivers = map[string]bool{"nvidia-frontend": true, "nvidia": true, "nvidiactl": true}

// uvmDriver registers the major of /dev/nvidia-uvm.
const uvmDriver = "nvidia-uvm"

// ParseProcDevices finds the NVIDIA majors in the text of /proc/devices. Block devices do not count. Cost: O(len(text)).
//
// Possible errors: [ErrInvalidProcDevices] for a line that is not "<major> <name>", for a driver with two majors, and if one of the two
// drivers is missing (a host without it cannot run a GPU job).
func ParseProcDevices(text []byte) (Majors, error) {
	var majors Majors
	var errs []error
	bad := func(line int, text, problem string) {
		if len(errs) < maxLineErrors {
			errs = append(errs, fmt.Errorf("%w: line %d %q: %s", ErrInvalidProcDevices, line, cut(text), problem))
		}
	}
	character, number := false, 0
	for line := range strings.SplitSeq(string(text), "\n") {
		number++
		switch strings.TrimSpace(line) {
		case "":
			continue
		case "Character devices:":
			character = true
			continue
		case "Block devices:":
			character = false
			continue
		}
		first, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		name = strings.TrimSpace(name)
		major, err := strconv.ParseUint(first, 10, 12)
		if err != nil || name == "" {
			bad(number, line, "want a heading or a major from 0 to 4095 and a name")
			continue
		}
		field := &majors.GPU
		switch {
		case !character:
			continue
		case name == uvmDriver:
			field = &majors.UVM
		case !gpuDrivers[name]:
			continue
		}
		if *field != 0 && *field != int64(major) {
			bad(number, line, fmt.Sprintf("the driver also has major %d", *field))
			continue
		}
		*field = int64(major)
	}
	if majors.GPU == 0 {
		errs = append(errs, fmt.Errorf("%w: no character device \"nvidia\": load the NVIDIA driver", ErrInvalidProcDevices))
	}
	if majors.UVM == 0 {
		errs = append(errs, fmt.Errorf("%w: no character device %q: load the module (nvidia-modprobe -u)", ErrInvalidProcDevices, uvmDriver))
	}
	if err := errors.Join(errs...); err != nil {
		return Majors{}, err
	}
	return majors, nil
}

// maxLineErrors bounds the report on a text that is something else altogether.
const maxLineErrors = 20
