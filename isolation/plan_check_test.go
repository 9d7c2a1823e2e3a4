// SPDX-License-Identifier: Apache-2.0

package isolation_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation"
	"github.com/berth-gpu/berth/isolation/cdi"
	"github.com/berth-gpu/berth/nvmlx"
)

// clone is a plan that shares no memory with p, made by JSON as a host's log would.
func clone(t require.TestingT, p isolation.Plan) (out isolation.Plan) {
	data, err := json.Marshal(p)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// forgeries are the ways to change a plan of lease "a" (whole GPU-a, share of GPU-b) without its document or its lease following.
func forgeries(other isolation.Plan) map[string]func(*isolation.Plan) {
	edits := func(p *isolation.Plan) *cdi.ContainerEdits { return &p.Spec.Devices[0].ContainerEdits }
	return map[string]func(*isolation.Plan){
		"another's device too":     func(p *isolation.Plan) { p.Devices = append(p.Devices, other.Devices[0]) },
		"another's device instead": func(p *isolation.Plan) { p.Devices[0] = other.Devices[0] },
		"another's minor":          func(p *isolation.Plan) { p.Devices[0].Minor = other.Devices[0].Minor },
		"another's document":       func(p *isolation.Plan) { p.Spec = other.Spec },
		"another's node in the document": func(p *isolation.Plan) {
			edits(p).DeviceNodes = append(edits(p).DeviceNodes, other.Spec.Devices[0].ContainerEdits.DeviceNodes[0])
		},
		"a node of all devices": func(p *isolation.Plan) {
			p.Spec.ContainerEdits.DeviceNodes = other.Spec.Devices[0].ContainerEdits.DeviceNodes[:1]
		},
		"a mount":                     func(p *isolation.Plan) { edits(p).Mounts = []cdi.Mount{{HostPath: "/dev", ContainerPath: "/dev"}} },
		"a second device":             func(p *isolation.Plan) { p.Spec.Devices = append(p.Spec.Devices, other.Spec.Devices[0]) },
		"no document":                 func(p *isolation.Plan) { p.Spec = cdi.Spec{} },
		"a GPU removed":               func(p *isolation.Plan) { p.Devices = p.Devices[1:] },
		"no devices":                  func(p *isolation.Plan) { p.Devices = nil },
		"nvidiactl removed":           func(p *isolation.Plan) { p.Devices = slices.Delete(p.Devices, 2, 3) },
		"access":                      func(p *isolation.Plan) { p.Devices[0].Access = "rwm" },
		"access in both":              func(p *isolation.Plan) { p.Devices[0].Access = "rwm"; edits(p).DeviceNodes[0].Permissions = "rwm" },
		"path":                        func(p *isolation.Plan) { p.Devices[0].Path = "/dev/mem" },
		"major in both":               func(p *isolation.Plan) { p.Devices[0].Major = 1; edits(p).DeviceNodes[0].Major = 1 },
		"uvm-tools":                   func(p *isolation.Plan) { p.Devices[3].Path, p.Devices[3].Minor = "/dev/nvidia-uvm-tools", 1 },
		"one minor for two":           func(p *isolation.Plan) { p.Devices[1].Minor, p.Devices[1].Path = p.Devices[0].Minor, p.Devices[0].Path },
		"environment":                 func(p *isolation.Plan) { p.Env = map[string]string{"NVIDIA_VISIBLE_DEVICES": "all"} },
		"more environment":            func(p *isolation.Plan) { p.Env["LD_PRELOAD"] = "x" },
		"no environment":              func(p *isolation.Plan) { p.Env = nil },
		"environment in the document": func(p *isolation.Plan) { edits(p).Env = append(edits(p).Env, "LD_PRELOAD=x") },
		"tenant":                      func(p *isolation.Plan) { p.Lease.Tenant = "evil" },
		"epoch":                       func(p *isolation.Plan) { p.Lease.Epoch++ },
		"id":                          func(p *isolation.Plan) { p.Lease.ID = "z" },
		"node":                        func(p *isolation.Plan) { p.Lease.Node = "node-9" },
		"GPU of the lease":            func(p *isolation.Plan) { p.Lease.GPUs[0] = other.Lease.GPUs[0] },
		"share of the lease":          func(p *isolation.Plan) { p.Lease.Shares = nil },
		"share without a wall":        func(p *isolation.Plan) { p.Lease.Trusted = false },
		"device name":                 func(p *isolation.Plan) { p.Device = other.Device },
		"file name":                   func(p *isolation.Plan) { p.SpecFile = "../../etc/passwd" },
		"kind":                        func(p *isolation.Plan) { p.Spec.Kind = "nvidia.com/gpu" },
		"nothing at all":              func(p *isolation.Plan) { *p = isolation.Plan{} },
	}
}

// H3, V1: whatever a plan grants or names beyond its lease is refused by Validate and Disjoint, and reported by Verify.
func TestForgedPlansH3V1(t *testing.T) {
	host := hostOf(5, 3, 4)
	lease := isolation.Lease{
		ID: "a", Epoch: 2, Tenant: "t", Node: "node-1", Trusted: true, GPUs: hostIDs(1), Shares: []isolation.Share{{GPU: gpuID(1), Milli: 10}},
	}
	plan := planOf(t, host, lease)
	other := planOf(t, host, isolation.Lease{ID: "b", Epoch: 1, Tenant: "u", Node: "node-1", GPUs: hostIDs(3)[2:]})
	require.NoError(t, isolation.Disjoint([]isolation.Plan{clone(t, plan), other}))
	observed := observedOf(t, host, plan)
	for name, forge := range forgeries(other) {
		t.Run(name, func(t *testing.T) {
			forged := clone(t, plan)
			forge(&forged)
			err := forged.Validate()
			var field *isolation.FieldError
			require.ErrorAs(t, err, &field)
			if name != "share without a wall" && name != "nothing at all" {
				require.ErrorIs(t, err, isolation.ErrInvalidPlan)
			}
			require.ErrorContains(t, isolation.Disjoint([]isolation.Plan{forged, other}), err.Error())
			differences := isolation.Verify(forged, observed)
			require.NotEmpty(t, differences)
			require.Equal(t, isolation.Difference{Code: isolation.DiffPlan, Subject: field.Field, Want: field.Problem, Have: field.Value}, differences[0])
		})
	}
}

// Validate accepts every plan that Plan makes, also after a trip through JSON.
func TestValidateAcceptsPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "n")
		plan, err := genLease(n).Draw(t, "lease").Plan(hostOf(genMinors(n).Draw(t, "minors")...))
		require.NoError(t, err)
		require.NoError(t, plan.Validate())
		require.NoError(t, clone(t, plan).Validate())
	})
}

// I13: the inventory may come in any order.
func TestPlanInventoryOrderI13(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		host, lease := hostOf(genMinors(n).Draw(t, "minors")...), genLease(n).Draw(t, "lease")
		want, err := lease.Plan(host)
		require.NoError(t, err)
		shuffled := host
		shuffled.Inventory.GPUs = rapid.Permutation(host.Inventory.GPUs).Draw(t, "order")
		before := slices.Clone(shuffled.Inventory.GPUs)
		have, err := lease.Plan(shuffled)
		require.NoError(t, err)
		require.Equal(t, want, have)
		require.Equal(t, before, shuffled.Inventory.GPUs, "arguments are left alone")
		require.Empty(t, isolation.Verify(have, observedOf(t, shuffled, have)))

		exchanged := host // I14: two GPUs change their indexes where they stand
		exchanged.Inventory.GPUs = slices.Clone(host.Inventory.GPUs)
		first, last := &exchanged.Inventory.GPUs[0], &exchanged.Inventory.GPUs[n-1]
		first.Index, last.Index = last.Index, first.Index
		have, err = lease.Plan(exchanged)
		require.NoError(t, err)
		require.Equal(t, want, have)
	})
}

// A message repeats at most 100 bytes of whatever it was given.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("ü", 1<<20)
	host := hostOf(0, 1)
	bad := isolation.Lease{ID: long, Epoch: 1, Tenant: long, Node: "node-1", GPUs: hostIDs(1)}
	_, idErr := bad.Plan(host)
	unknown := isolation.Lease{ID: "a", Epoch: 1, Tenant: "t", Node: "node-1", GPUs: hostIDs(1)}
	plan := planOf(t, host, unknown)
	unknown.GPUs[0] += "x"
	unknown.Node += "-x"
	host.Node, host.Kind = host.Node+"\n", long
	_, hostErr := unknown.Plan(host)
	host = hostOf(0, 1)
	host.Inventory.GPUs[0].UUID, host.Inventory.GPUs[1].UUID = nvmlx.UUID(long), nvmlx.UUID(long)
	_, inventoryErr := unknown.Plan(host)
	_, procErr := isolation.ParseProcDevices([]byte("Character devices:\n" + long))
	_, specErr := cdi.Parse([]byte(`{"` + long + `":1}`))
	_, nameErr := cdi.ParseDeviceName(long)
	forged := clone(t, plan)
	forged.Env, forged.Device, forged.SpecFile = maps.Clone(plan.Env), long, long
	forged.Env[long] = long
	disjointErr := isolation.Disjoint([]isolation.Plan{{Lease: bad}, {Lease: bad}})
	overlapErr := &isolation.OverlapError{Leases: [2]string{long, long}, Path: long}
	for _, err := range []error{
		idErr, hostErr, inventoryErr, procErr, specErr, nameErr, forged.Validate(), disjointErr, overlapErr, (cdi.Lease{ID: long}).Validate(),
		cdi.Spec{Kind: long, Version: long, Annotations: map[string]string{long: long}}.Validate(),
	} {
		require.Error(t, err)
		require.Less(t, len(err.Error()), 4096, "%.200s", err.Error())
		require.NotContains(t, err.Error(), `\x`, "cut at the end of a character")
	}
	for _, difference := range isolation.Verify(forged, isolation.Observed{}) {
		require.Less(t, len(difference.Have+difference.Want), 1024)
	}
}
