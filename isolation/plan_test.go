// SPDX-License-Identifier: Apache-2.0

package isolation_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation"
	"github.com/berth-gpu/berth/isolation/cdi"
	"github.com/berth-gpu/berth/nvmlx"
	"github.com/berth-gpu/berth/topology"
)

// I14 as it was reported (gVisor issue 9389): index 0 has minor 7, so the file is /dev/nvidia7 and never /dev/nvidia0.
func TestPlanUsesMinorNotIndexI14(t *testing.T) {
	plan := planOf(t, hostOf(7, 0), isolation.Lease{ID: "a", Epoch: 1, Tenant: "t", Node: "node-1", GPUs: []topology.GPUID{gpuID(0)}})
	require.Equal(t, []isolation.DeviceNode{
		{GPU: gpuID(0), Path: "/dev/nvidia7", Major: 195, Minor: 7, Access: "rw"},
		{Path: "/dev/nvidiactl", Major: 195, Minor: 255, Access: "rw"},
		{Path: "/dev/nvidia-uvm", Major: 508, Minor: 0, Access: "rw"},
	}, plan.Devices)
	require.Equal(t, map[string]string{"NVIDIA_VISIBLE_DEVICES": "void"}, plan.Env)
	require.Equal(t, "berth.dev/gpu=a-e1", plan.Device)
	require.Equal(t, "berth.dev-gpu_a-e1.json", plan.SpecFile)
}

// E2, E3, I13: the document grants the GPUs of the lease and the two control files, by minor; order of input means nothing; arguments
// are left alone; the plan survives JSON.
func TestPlanE2E3I13(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		minors := genMinors(n).Draw(t, "minors")
		host, lease := hostOf(minors...), genLease(n).Draw(t, "lease")
		lease.Start = time.Date(2030, 1, 1, 9, 0, 0, 0, time.FixedZone("east", 3600))
		before := fmt.Sprint(host, lease)
		plan, err := lease.Plan(host)
		require.NoError(t, err)
		require.Equal(t, before, fmt.Sprint(host, lease))

		want := []string{"c 195:255 rw /dev/nvidiactl", "c 508:0 rw /dev/nvidia-uvm"}
		for i, minor := range minors {
			held := slices.Contains(lease.GPUs, gpuID(i)) ||
				slices.ContainsFunc(lease.Shares, func(s isolation.Share) bool { return s.GPU == gpuID(i) })
			if held {
				want = append(want, fmt.Sprintf("c 195:%d rw /dev/nvidia%d", minor, minor))
			}
		}
		require.Len(t, plan.Spec.Devices, 1)
		var granted []string
		for _, node := range plan.Spec.Devices[0].ContainerEdits.DeviceNodes {
			granted = append(granted, fmt.Sprintf("%s %d:%d %s %s", node.Type, node.Major, node.Minor, node.Permissions, node.Path))
			require.NotContains(t, node.Path, "nvidia-caps")
		}
		require.ElementsMatch(t, want, granted)
		require.Len(t, plan.Devices, len(want))
		require.Equal(t, []string{"NVIDIA_VISIBLE_DEVICES=void"}, plan.Spec.Devices[0].ContainerEdits.Env)

		named, err := cdi.ParseDeviceName(plan.Spec.Devices[0].Name)
		require.NoError(t, err)
		require.Equal(t, cdi.Lease{ID: lease.ID, Epoch: lease.Epoch}, named)
		require.Equal(t, time.UTC, plan.Lease.Start.Location())

		shuffled := lease
		shuffled.GPUs = rapid.Permutation(lease.GPUs).Draw(t, "gpus")
		shuffled.Shares = rapid.Permutation(lease.Shares).Draw(t, "shares")
		again, err := shuffled.Plan(host)
		require.NoError(t, err)
		first, err := json.Marshal(plan)
		require.NoError(t, err)
		second, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
		var read isolation.Plan
		require.NoError(t, json.Unmarshal(first, &read))
		require.Equal(t, plan, read)
	})
}

// I14: new minors change only numbers and paths; new indexes change nothing.
func TestRenumberingI14(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		host, lease := hostOf(genMinors(n).Draw(t, "minors")...), genLease(n).Draw(t, "lease")
		plan, err := lease.Plan(host)
		require.NoError(t, err)

		order := rapid.Permutation(host.Inventory.GPUs).Draw(t, "order")
		reindexed := host
		reindexed.Inventory.GPUs = slices.Clone(order)
		for i := range reindexed.Inventory.GPUs {
			reindexed.Inventory.GPUs[i].Index = nvmlx.Index(i)
		}
		same, err := lease.Plan(reindexed)
		require.NoError(t, err)
		require.Equal(t, plan, same)

		renumbered := hostOf(genMinors(n).Draw(t, "new minors")...)
		moved, err := lease.Plan(renumbered)
		require.NoError(t, err)
		masked := func(p isolation.Plan) isolation.Plan {
			for i, device := range p.Devices {
				if device.GPU != "" {
					p.Devices[i].Path, p.Devices[i].Minor = "", 0
					node := &p.Spec.Devices[0].ContainerEdits.DeviceNodes[i]
					require.Equal(t, device.Path, node.Path)
					require.Equal(t, device.Minor, node.Minor)
					node.Path, node.Minor = "", 0
				}
			}
			return p
		}
		require.Equal(t, masked(plan), masked(moved))
	})
}

func TestPlanRefusesEverythingAtOnce(t *testing.T) {
	host := hostOf(0, 0)
	host.Majors.UVM = 0
	host.Majors.GPU = -1
	host.Kind = "nokind"
	host.Node = ""
	start := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	lease := isolation.Lease{
		ID: "../../etc/passwd", Tenant: "a\nb", Node: "node-2",
		GPUs:   []topology.GPUID{gpuID(0), gpuID(0), "", "GPU-z"},
		Shares: []isolation.Share{{gpuID(1), 1000}, {gpuID(0), 0}, {"GPU-y", 5}},
		Start:  start, End: start,
	}
	plan, err := lease.Plan(host)
	require.Zero(t, plan)
	for _, kind := range []error{
		isolation.ErrInvalidLease, isolation.ErrInvalidHost, isolation.ErrWrongNode, isolation.ErrUnknownGPU, isolation.ErrShareNotAllowed,
		nvmlx.ErrInvalidInventory,
	} {
		require.ErrorIs(t, err, kind)
	}
	for _, problem := range []string{
		`id "../../etc/passwd": want 1 to 128`, `epoch "0": the first epoch is 1`, `tenant "a\nb": must be UTF-8 without control`,
		`end "2030-01-02T00:00:00Z": must be after start 2030-01-02T00:00:00Z`, `gpus[1] "GPU-a": is also gpus[0]`, `gpus[2] "": must not be empty`,
		`shares[0].milli "1000": want 1 to 999`, `shares[1].gpu "GPU-a": is also gpus[0]`, `shares[1].milli "0"`,
		`shares[0] "GPU-b": a share has no wall`, `host.node ""`, `gpus[1].minor 0: is also that of gpus[0]`, `host.majors.gpu "-1"`,
		`host.majors.uvm "0"`, `kind "nokind"`, `node "node-2": the host is ""`, `gpus[3] "GPU-z": node "" has 2 GPUs`, `shares[2].gpu "GPU-y"`,
	} {
		require.ErrorContains(t, err, problem)
	}
	_, err = isolation.Lease{}.Plan(isolation.Host{})
	require.ErrorContains(t, err, "a lease holds at least one GPU or share")
	require.ErrorContains(t, isolation.Lease{Tenant: "\xff"}.Validate(), "must be UTF-8")
	require.ErrorContains(t, isolation.Lease{Tenant: strings.Repeat("x", 4097)}.Validate(), "want 1 to 4096 bytes")
}

func TestFieldErrorIsData(t *testing.T) {
	_, err := isolation.Lease{ID: "a", Epoch: 1, Tenant: "t", Node: "node-1", GPUs: []topology.GPUID{"GPU-z"}}.Plan(hostOf(0))
	var field *isolation.FieldError
	require.ErrorAs(t, err, &field)
	require.Equal(t, "gpus[0]", field.Field)
	require.Equal(t, "GPU-z", field.Value)
	require.NotErrorIs(t, err, isolation.ErrInvalidLease)
	data, err := json.Marshal(field)
	require.NoError(t, err)
	require.JSONEq(t, `{"field":"gpus[0]","value":"GPU-z","problem":"node \"node-1\" has 1 GPUs, none with this id; read its inventory again"}`, string(data))
}

// A long kind makes a file name that no file system takes: an error, not a cut name.
func TestPlanRefusesLongNames(t *testing.T) {
	host := hostOf(0)
	host.Kind = strings.Repeat("v", 150) + "/gpu"
	lease := isolation.Lease{ID: strings.Repeat("x", 128), Epoch: 1, Tenant: "t", Node: "node-1", GPUs: []topology.GPUID{gpuID(0)}}
	_, err := lease.Plan(host)
	require.ErrorIs(t, err, isolation.ErrInvalidHost)
	require.ErrorContains(t, err, "choose a shorter kind")
	lease.ID = "x"
	plan := planOf(t, host, lease)
	require.Equal(t, host.Kind+"=x-e1", plan.Device)
}

// The JSON of a plan is what agents and logs keep: a change of this file is a change of the format.
func TestPlanGolden(t *testing.T) {
	plan := planOf(t, hostOf(1, 0), isolation.Lease{
		ID: "lease-7", Epoch: 3, Tenant: "vision", Node: "node-1", Trusted: true,
		GPUs:   []topology.GPUID{gpuID(1)},
		Shares: []isolation.Share{{GPU: gpuID(0), Milli: 250}},
		Start:  time.Date(2030, 1, 1, 8, 0, 0, 0, time.UTC), End: time.Date(2030, 1, 8, 8, 0, 0, 0, time.UTC),
	})
	data, err := json.MarshalIndent(plan, "", "  ")
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join("testdata", "plan.json"))
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(want)), string(data))
}
