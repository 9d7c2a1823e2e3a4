// SPDX-License-Identifier: Apache-2.0

package cdi

import (
	"slices"
	"strings"
)

// CurrentVersion is the newest schema that this package knows.
const CurrentVersion = "1.1.0"

// versions are the released schemas, oldest first. Runtimes treat 0.3.0 as the oldest one.
// Source: CDI specification 1.1.0, "Released versions".
var versions = []string{"0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0"}

// MinimumVersion is the oldest schema that has every field the spec uses. Old runtimes refuse a document that names a newer schema than
// they know, so this is the one to write. Cost: O(devices and their edits).
//
//	0.4.0 type of a mount · 0.5.0 host path of a node, device name that starts with a digit · 0.6.0 annotations, dot in the class
//	0.7.0 intelRdt, additional groups · 1.1.0 network devices, schemata and monitoring of intelRdt
func MinimumVersion(spec Spec) string {
	needed := 0
	need := func(version string, when bool) {
		if when {
			needed = max(needed, slices.Index(versions, version))
		}
	}
	_, class, _ := strings.Cut(spec.Kind, "/")
	need("0.6.0", len(spec.Annotations) > 0 || strings.Contains(class, "."))
	for _, device := range spec.Devices {
		need("0.5.0", device.Name != "" && isDigit(device.Name[0]))
		need("0.6.0", len(device.Annotations) > 0)
	}
	for _, edits := range spec.edits() {
		for _, mount := range edits.Mounts {
			need("0.4.0", mount.Type != "")
		}
		for _, node := range edits.DeviceNodes {
			need("0.5.0", node.HostPath != "")
		}
		need("0.7.0", len(edits.AdditionalGIDs) > 0 || edits.IntelRDT != nil)
		need("1.1.0", len(edits.NetDevices) > 0)
		if rdt := edits.IntelRDT; rdt != nil {
			need("1.1.0", len(rdt.Schemata) > 0 || rdt.EnableMonitoring)
		}
	}
	return versions[needed]
}
