// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/berth-gpu/berth/isolation/cdi"
)

// Verify compares what a host reports with a plan and lists every difference, in the order of [Code] and then of the plan or of the
// report; none means that the host is as planned (V1). It changes nothing, so a new installation can run it for weeks before it lets
// berth write anything. Cost: O(l · (g + n) + b) for l GPUs of the lease, g of the node, and n device nodes in b bytes of documents.
func Verify(plan Plan, host Observed) []Difference {
	if plan.Lease.Node != host.Node {
		return []Difference{{DiffNode, string(host.Node), string(plan.Lease.Node), string(host.Node)}}
	}
	differences := verifyGPUs(plan, host)
	differences = append(differences, verifyFiles(plan, host)...)
	return append(differences, verifySpecs(plan, host)...)
}

func verifyGPUs(plan Plan, host Observed) (missing []Difference) {
	var moved []Difference
	for _, device := range plan.Devices {
		if device.GPU == "" {
			continue
		}
		gpu, found := host.Inventory.Find(device.GPU)
		if !found {
			missing = append(missing, Difference{DiffGPUMissing, string(device.GPU), device.Path, "not in the inventory"})
			continue
		}
		if path := gpuPath(gpu.Minor); path != device.Path {
			moved = append(moved, Difference{DiffMinorMoved, string(device.GPU), device.Path, path})
		}
	}
	return append(missing, moved...)
}

func verifyFiles(plan Plan, host Observed) (missing []Difference) {
	var wrong []Difference
	files := map[string]DeviceFile{}
	for _, file := range host.Files {
		files[file.Path] = file
	}
	for _, device := range plan.Devices {
		want := DeviceFile{Path: device.Path, Type: "c", Major: device.Major, Minor: device.Minor}
		have, found := files[device.Path]
		switch {
		case !found:
			missing = append(missing, Difference{DiffFileMissing, device.Path, want.numbers(), ""})
		case have != want:
			wrong = append(wrong, Difference{DiffFileNumber, device.Path, want.numbers(), have.numbers()})
		}
	}
	return append(missing, wrong...)
}

func (f DeviceFile) numbers() string {
	return strings.TrimSpace(fmt.Sprintf("%s %d:%d", f.Type, f.Major, f.Minor))
}

// verifySpecs judges the plan's own document by its bytes and every other one by what it grants.
func verifySpecs(plan Plan, host Observed) []Difference {
	var own, stale, twice, foreign, unreadable []Difference
	want, err := plan.Document()
	found := false
	for _, file := range host.Specs {
		if file.Name == plan.SpecFile {
			found = true
			if err != nil || !bytes.Equal(file.Data, want) {
				own = append(own, Difference{DiffSpecContent, file.Name, "the document of the plan", firstDifference(want, file.Data)})
			}
			continue
		}
		spec, err := cdi.Parse(file.Data)
		if err != nil {
			unreadable = append(unreadable, Difference{DiffSpecUnreadable, file.Name, "a valid CDI document", err.Error()})
			continue
		}
		for _, device := range spec.Devices {
			name := spec.Kind + "=" + device.Name
			lease, err := cdi.ParseDeviceName(device.Name)
			switch {
			case name == plan.Device:
				twice = append(twice, Difference{DiffSpecTwice, file.Name, "only in " + plan.SpecFile, name})
			case err == nil && kindOf(plan) == spec.Kind && lease.ID == plan.Lease.ID:
				stale = append(stale, Difference{DiffSpecStale, file.Name, plan.Device, name})
			default:
				for _, path := range grants(plan, spec.ContainerEdits, device.ContainerEdits) {
					foreign = append(foreign, Difference{DiffForeignGrant, file.Name, path + " only by " + plan.Device, name})
				}
			}
		}
	}
	if !found {
		own = append(own, Difference{DiffSpecMissing, plan.SpecFile, "the document of the plan", ""})
	}
	var all []Difference
	for _, list := range [][]Difference{own, stale, twice, foreign, unreadable} {
		all = append(all, list...)
	}
	return all
}

func kindOf(plan Plan) string { return plan.Spec.Kind }

// grants lists the whole GPUs of the plan that the edits give away, by device number or, where the document leaves the number to the
// runtime, by path. Shares may stand beside others, so [Disjoint] judges those.
func grants(plan Plan, edits ...cdi.ContainerEdits) (paths []string) {
	shared := map[string]bool{}
	for _, share := range plan.Lease.Shares {
		shared[string(share.GPU)] = true
	}
	for _, device := range plan.Devices {
		if device.GPU == "" || shared[string(device.GPU)] {
			continue
		}
		for _, edit := range edits {
			for _, node := range edit.DeviceNodes {
				if reaches(node, device) {
					paths = append(paths, device.Path)
				}
			}
		}
	}
	return paths
}

func reaches(node cdi.DeviceNode, device DeviceNode) bool {
	if node.Type != "" && node.Major != 0 {
		return (node.Type == "c" || node.Type == "u") && node.Major == device.Major && node.Minor == device.Minor
	}
	path := node.HostPath
	if path == "" {
		path = node.Path
	}
	return path == device.Path
}

// firstDifference says where two documents part, for people.
func firstDifference(want, have []byte) string {
	line := 1
	for i := range min(len(want), len(have)) {
		if want[i] != have[i] {
			return fmt.Sprintf("differs in line %d", line)
		}
		if want[i] == '\n' {
			line++
		}
	}
	return fmt.Sprintf("%d bytes instead of %d", len(have), len(want))
}
