// SPDX-License-Identifier: Apache-2.0

package isolation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation"
	"github.com/berth-gpu/berth/isolation/cdi"
	"github.com/berth-gpu/berth/topology"
)

func hostIDs(n int) (ids []topology.GPUID) {
	for i := range n {
		ids = append(ids, gpuID(i))
	}
	return ids
}

// observedOf is a host that is exactly as planned.
func observedOf(t require.TestingT, host isolation.Host, plan isolation.Plan) isolation.Observed {
	document, err := plan.Document()
	require.NoError(t, err)
	observed := isolation.Observed{
		Node:      host.Node,
		Inventory: host.Inventory,
		Specs:     []isolation.SpecFile{{Name: plan.SpecFile, Data: document}},
	}
	for _, device := range plan.Devices {
		observed.Files = append(observed.Files, isolation.DeviceFile{Path: device.Path, Type: "c", Major: device.Major, Minor: device.Minor})
	}
	return observed
}

// document is a CDI document with one device.
func document(t testing.TB, kind, name string, nodes ...cdi.DeviceNode) []byte {
	spec := cdi.Spec{Version: "1.1.0", Kind: kind, Devices: []cdi.Device{{Name: name, ContainerEdits: cdi.ContainerEdits{DeviceNodes: nodes}}}}
	data, err := cdi.Encode(spec)
	require.NoError(t, err)
	return data
}

// V1: each way to differ is reported under its code, once, and nothing else is.
func TestVerifyCodesV1(t *testing.T) {
	host := hostOf(5, 3, 4)
	plan := planOf(t, host, isolation.Lease{
		ID: "a", Epoch: 2, Tenant: "t", Node: "node-1", Trusted: true,
		GPUs: hostIDs(1), Shares: []isolation.Share{{GPU: gpuID(1), Milli: 10}},
	})
	planned := observedOf(t, host, plan)
	require.Empty(t, isolation.Verify(plan, planned))
	add := func(o *isolation.Observed, name string, data []byte) {
		o.Specs = append(o.Specs, isolation.SpecFile{Name: name, Data: data})
	}
	whole := cdi.DeviceNode{Path: "/dev/gpu", Type: "c", Major: 195, Minor: 5}
	for name, c := range map[string]struct {
		change func(*isolation.Observed)
		want   []isolation.Difference
	}{
		"wrong node": {func(o *isolation.Observed) { o.Node, o.Files = "node-2", nil },
			[]isolation.Difference{{Code: isolation.DiffNode, Subject: "node-2", Want: "node-1", Have: "node-2"}}},
		"gpu missing": {func(o *isolation.Observed) { o.Inventory.GPUs = o.Inventory.GPUs[1:] },
			[]isolation.Difference{{Code: isolation.DiffGPUMissing, Subject: "GPU-a", Want: "/dev/nvidia5", Have: "not in the inventory"}}},
		"minors exchanged": {func(o *isolation.Observed) { o.Inventory = hostOf(3, 5, 4).Inventory },
			[]isolation.Difference{
				{Code: isolation.DiffMinorMoved, Subject: "GPU-a", Want: "/dev/nvidia5", Have: "/dev/nvidia3"},
				{Code: isolation.DiffMinorMoved, Subject: "GPU-b", Want: "/dev/nvidia3", Have: "/dev/nvidia5"},
			}},
		"file missing": {func(o *isolation.Observed) { o.Files = o.Files[1:] },
			[]isolation.Difference{{Code: isolation.DiffFileMissing, Subject: "/dev/nvidia5", Want: "c 195:5", Have: ""}}},
		"uvm reloaded": {func(o *isolation.Observed) { o.Files[3].Major = 511 },
			[]isolation.Difference{{Code: isolation.DiffFileNumber, Subject: "/dev/nvidia-uvm", Want: "c 508:0", Have: "c 511:0"}}},
		"not a device": {func(o *isolation.Observed) { o.Files[2] = isolation.DeviceFile{Path: "/dev/nvidiactl"} },
			[]isolation.Difference{{Code: isolation.DiffFileNumber, Subject: "/dev/nvidiactl", Want: "c 195:255", Have: "0:0"}}},
		"document missing": {func(o *isolation.Observed) { o.Specs = nil },
			[]isolation.Difference{{Code: isolation.DiffSpecMissing, Subject: "berth.dev-gpu_a-e2.json", Want: "the document of the plan", Have: ""}}},
		"document changed": {func(o *isolation.Observed) {
			o.Specs[0].Data = []byte(strings.Replace(string(o.Specs[0].Data), `"permissions": "rw"`, `"permissions": "rwm"`, 1))
		}, []isolation.Difference{{Code: isolation.DiffSpecContent, Subject: "berth.dev-gpu_a-e2.json", Want: "the document of the plan", Have: "differs in line 23"}}},
		"document cut": {func(o *isolation.Observed) { o.Specs[0].Data = nil },
			[]isolation.Difference{{Code: isolation.DiffSpecContent, Subject: "berth.dev-gpu_a-e2.json", Want: "the document of the plan", Have: fmt.Sprintf("0 bytes instead of %d", len(planned.Specs[0].Data))}}},
		"other epoch": {func(o *isolation.Observed) { add(o, "old.json", document(t, "berth.dev/gpu", "a-e1", whole)) },
			[]isolation.Difference{{Code: isolation.DiffSpecStale, Subject: "old.json", Want: "berth.dev/gpu=a-e2", Have: "berth.dev/gpu=a-e1"}}},
		"device twice": {func(o *isolation.Observed) { add(o, "copy.json", document(t, "berth.dev/gpu", "a-e2", whole)) },
			[]isolation.Difference{{Code: isolation.DiffSpecTwice, Subject: "copy.json", Want: "only in berth.dev-gpu_a-e2.json", Have: "berth.dev/gpu=a-e2"}}},
		"granted by number": {func(o *isolation.Observed) { add(o, "nvidia.json", document(t, "nvidia.com/gpu", "all", whole)) },
			[]isolation.Difference{{Code: isolation.DiffForeignGrant, Subject: "nvidia.json", Want: "/dev/nvidia5 only by berth.dev/gpu=a-e2", Have: "nvidia.com/gpu=all"}}},
		"granted by path": {func(o *isolation.Observed) {
			add(o, "nvidia.json", document(t, "nvidia.com/gpu", "0", cdi.DeviceNode{Path: "/dev/x", HostPath: "/dev/nvidia5"}, cdi.DeviceNode{Path: "/dev/nvidia3"}))
		}, []isolation.Difference{{Code: isolation.DiffForeignGrant, Subject: "nvidia.json", Want: "/dev/nvidia5 only by berth.dev/gpu=a-e2", Have: "nvidia.com/gpu=0"}}},
		"granted by a mount": {func(o *isolation.Observed) {
			mount := func(name, kind, path string) cdi.Device {
				return cdi.Device{Name: name, ContainerEdits: cdi.ContainerEdits{Mounts: []cdi.Mount{{HostPath: path, ContainerPath: "/x", Type: kind}}}}
			}
			data, err := cdi.Encode(cdi.Spec{Version: "1.1.0", Kind: "v.x/gpu", Devices: []cdi.Device{
				mount("file", "", "/dev/nvidia5"), mount("dir", "", "/dev"), mount("root", "", "/"), mount("fs", "devtmpfs", "/none"),
				mount("share", "", "/dev/nvidia3"), mount("near", "", "/dev/nvidia"), mount("lib", "", "/usr/lib"),
			}})
			require.NoError(t, err)
			add(o, "m.json", data)
		}, []isolation.Difference{
			{Code: isolation.DiffForeignGrant, Subject: "m.json", Want: "/dev/nvidia5 only by berth.dev/gpu=a-e2", Have: "v.x/gpu=file"},
			{Code: isolation.DiffForeignGrant, Subject: "m.json", Want: "/dev/nvidia5 only by berth.dev/gpu=a-e2", Have: "v.x/gpu=dir"},
			{Code: isolation.DiffForeignGrant, Subject: "m.json", Want: "/dev/nvidia5 only by berth.dev/gpu=a-e2", Have: "v.x/gpu=root"},
			{Code: isolation.DiffForeignGrant, Subject: "m.json", Want: "/dev/nvidia5 only by berth.dev/gpu=a-e2", Have: "v.x/gpu=fs"},
		}},
		"granted by another name": {func(o *isolation.Observed) {
			o.Files = append(o.Files, isolation.DeviceFile{Path: "/dev/alias", Type: "c", Major: 195, Minor: 5})
			add(o, "n.json", document(t, "nvidia.com/gpu", "0", cdi.DeviceNode{Path: "/dev/alias"}))
		}, []isolation.Difference{{Code: isolation.DiffForeignGrant, Subject: "n.json", Want: "/dev/nvidia5 only by berth.dev/gpu=a-e2", Have: "nvidia.com/gpu=0"}}},
		"file twice": {func(o *isolation.Observed) {
			o.Files = append([]isolation.DeviceFile{{Path: "/dev/nvidia5", Type: "c", Major: 195, Minor: 2}}, o.Files...)
		}, []isolation.Difference{{Code: isolation.DiffFileTwice, Subject: "/dev/nvidia5", Want: "once", Have: "2 times"}}},
		"document in two directories": {func(o *isolation.Observed) { o.Specs = append(o.Specs, o.Specs[0]) },
			[]isolation.Difference{{Code: isolation.DiffSpecTwice, Subject: "berth.dev-gpu_a-e2.json", Want: "once", Have: "berth.dev/gpu=a-e2"}}},
		"minor twice": {func(o *isolation.Observed) {
			o.Inventory.GPUs = append(o.Inventory.GPUs, o.Inventory.GPUs[0])
			again := &o.Inventory.GPUs[3]
			again.Index, again.UUID, again.PCI.Bus = 3, "GPU-z", 9
		}, []isolation.Difference{{Code: isolation.DiffInventory, Subject: "node-1", Want: "a valid inventory",
			Have: "nvmlx: invalid inventory: gpus[3].minor 5: is also that of gpus[0]"}}},
		"unreadable": {func(o *isolation.Observed) { add(o, "other.yaml", []byte("cdiVersion: 0.5.0")) },
			[]isolation.Difference{{Code: isolation.DiffSpecUnreadable, Subject: "other.yaml", Want: "a valid CDI document",
				Have: "cdi: invalid spec: byte 0: invalid character 'c' looking for beginning of value"}}},
		"other leases": {func(o *isolation.Observed) {
			add(o, "b.json", document(t, "berth.dev/gpu", "b-e1", cdi.DeviceNode{Path: "/dev/nvidia4", Type: "c", Major: 195, Minor: 4}))
			add(o, "c.json", document(t, "berth.dev/gpu", "c-e1", cdi.DeviceNode{Path: "/dev/nvidia3", Type: "c", Major: 195, Minor: 3})) // a share too
			o.Files = append(o.Files, isolation.DeviceFile{Path: "/dev/null", Type: "c", Major: 1, Minor: 3})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			observed := observedOf(t, hostOf(5, 3, 4), plan)
			c.change(&observed)
			require.Equal(t, c.want, isolation.Verify(plan, observed))
		})
	}
	nothing := isolation.Verify(plan, isolation.Observed{Node: "node-1"})
	require.Len(t, nothing, 2+4+1) // two GPUs, four files, one document: who did not look does not look right
}

// V1: a host as planned shows no difference, and the plan of any other lease or inventory does.
func TestVerifyV1(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "n")
		host, lease := hostOf(genMinors(n).Draw(t, "minors")...), genLease(n).Draw(t, "lease")
		plan, err := lease.Plan(host)
		require.NoError(t, err)
		observed := observedOf(t, host, plan)
		require.Empty(t, isolation.Verify(plan, observed))

		other, err := genLease(n).Draw(t, "other").Plan(hostOf(genMinors(n).Draw(t, "other minors")...))
		require.NoError(t, err)
		same := slices.Equal(plan.Devices, other.Devices) && plan.SpecFile == other.SpecFile && plan.Lease.Tenant == other.Lease.Tenant
		require.Equal(t, same, len(isolation.Verify(other, observed)) == 0)
	})
}
