// SPDX-License-Identifier: Apache-2.0

package cdi

import (
	"fmt"
	"slices"
	"strings"
)

// hookNames are the points of a container's life. Source: CDI specification 1.1.0, "OCI Edits", and its library, which adds prestart.
var hookNames = []string{"prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"}

func (v *validator) edits(field string, edits *ContainerEdits) {
	for i, entry := range edits.Env {
		v.env(fmt.Sprintf("%s.env[%d]", field, i), entry)
	}
	paths := map[string]bool{}
	for i := range edits.DeviceNodes {
		node := &edits.DeviceNodes[i]
		at := fmt.Sprintf("%s.deviceNodes[%d]", field, i)
		v.node(at, node)
		if paths[node.Path] {
			v.bad(at+".path", node.Path, "occurs twice")
		}
		paths[node.Path] = true
	}
	hosts, names := map[string]bool{}, map[string]bool{}
	for i, device := range edits.NetDevices {
		at := fmt.Sprintf("%s.netDevices[%d]", field, i)
		v.unique(at+".hostInterfaceName", device.HostInterfaceName, hosts)
		v.unique(at+".name", device.Name, names)
	}
	for i := range edits.Hooks {
		v.hook(fmt.Sprintf("%s.hooks[%d]", field, i), &edits.Hooks[i])
	}
	for i, mount := range edits.Mounts {
		at := fmt.Sprintf("%s.mounts[%d]", field, i)
		v.absolute(at+".hostPath", mount.HostPath)
		v.absolute(at+".containerPath", mount.ContainerPath)
		v.text(at+".type", mount.Type)
		v.texts(at+".options", mount.Options)
	}
	if rdt := edits.IntelRDT; rdt != nil {
		at := field + ".intelRdt"
		if len(rdt.ClosID) >= 4096 || rdt.ClosID == "." || rdt.ClosID == ".." || strings.ContainsAny(rdt.ClosID, "/\n") {
			v.bad(at+".closID", rdt.ClosID, "must be a plain file name")
		}
		v.texts(at, append([]string{rdt.ClosID, rdt.L3CacheSchema, rdt.MemBwSchema}, rdt.Schemata...))
	}
}

func (v *validator) env(field, entry string) {
	v.text(field, entry)
	if strings.IndexByte(entry, '=') <= 0 {
		v.bad(field, entry, "want NAME=value")
	}
}

func (v *validator) unique(field, value string, seen map[string]bool) {
	v.text(field, value)
	if value == "" || seen[value] {
		v.bad(field, value, "must not be empty or occur twice")
	}
	seen[value] = true
}

func (v *validator) node(field string, node *DeviceNode) {
	v.absolute(field+".path", node.Path)
	if node.HostPath != "" {
		v.absolute(field+".hostPath", node.HostPath)
	}
	if !slices.Contains([]string{"", "b", "c", "u", "p"}, node.Type) {
		v.bad(field+".type", node.Type, "want b, c, u, p or nothing")
	}
	if node.Major < 0 || node.Minor < 0 {
		v.bad(field, fmt.Sprintf("%d:%d", node.Major, node.Minor), "device numbers must not be negative")
	}
	if node.Permissions != "none" && strings.Trim(node.Permissions, "rwm") != "" {
		v.bad(field+".permissions", node.Permissions, "want letters of rwm, or none")
	}
}

func (v *validator) hook(field string, hook *Hook) {
	if !slices.Contains(hookNames, hook.HookName) {
		v.bad(field+".hookName", hook.HookName, "want one of "+strings.Join(hookNames, ", "))
	}
	v.absolute(field+".path", hook.Path)
	v.texts(field+".args", hook.Args)
	for i, entry := range hook.Env {
		v.env(fmt.Sprintf("%s.env[%d]", field, i), entry)
	}
	if hook.Timeout != nil && *hook.Timeout <= 0 {
		v.bad(field+".timeout", fmt.Sprint(*hook.Timeout), "must be above zero seconds")
	}
}
