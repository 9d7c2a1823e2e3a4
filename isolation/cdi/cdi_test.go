// SPDX-License-Identifier: Apache-2.0

package cdi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation/cdi"
)

func gpuNode(minor int64) cdi.DeviceNode {
	return cdi.DeviceNode{Path: "/dev/nvidia0", Type: "c", Major: 195, Minor: minor, Permissions: "rw"}
}

// E2: one device, the nodes of the config and nothing else.
func TestNewGrantsExactlyItsNodesE2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfNDistinct(genNode(), 1, 6, func(n cdi.DeviceNode) string { return n.Path }).Draw(t, "nodes")
		for i := range nodes {
			nodes[i].Type, nodes[i].Major = "c", nodes[i].Major+1
		}
		env := rapid.SliceOfN(genEnv(), 0, 3).Draw(t, "env")
		spec, err := cdi.New(cdi.Config{Lease: genLease().Draw(t, "lease"), Nodes: nodes, Env: env})
		require.NoError(t, err)
		require.Len(t, spec.Devices, 1)
		require.Equal(t, nodes, spec.Devices[0].ContainerEdits.DeviceNodes)
		require.ElementsMatch(t, env, spec.Devices[0].ContainerEdits.Env)
		rest := spec.Devices[0].ContainerEdits
		rest.DeviceNodes, rest.Env = nil, nil
		require.True(t, rest.IsZero())
		require.True(t, spec.ContainerEdits.IsZero())
		require.Equal(t, "0.6.0", spec.Version) // annotations came with 0.6.0
		require.NoError(t, spec.Validate())
	})
}

func TestNewRefusesEverythingAtOnce(t *testing.T) {
	_, err := cdi.New(cdi.Config{
		Kind:        "berth.dev",
		Lease:       cdi.Lease{ID: "../etc"},
		Nodes:       []cdi.DeviceNode{{Path: "/dev/nvidia0"}, {Path: "dev", Type: "z", Major: 195, Minor: -1, Permissions: "rx"}},
		Env:         []string{"=x"},
		Annotations: map[string]string{cdi.AnnotationEpoch: "9", "bad key": "", "Berth.dev/x": ""},
	})
	require.ErrorIs(t, err, cdi.ErrInvalidLease)
	require.ErrorIs(t, err, cdi.ErrInvalidSpec)
	for _, problem := range []string{
		`id "../etc"`, "epoch 0", `kind "berth.dev"`, `nodes[0] "/dev/nvidia0": needs its type`, `path "dev": want an absolute path`,
		`type "z"`, `"195:-1": device numbers must not be negative`, `permissions "rx"`, `env[0] "=x"`,
		`"berth.dev/epoch": is written by New`, `"bad key"`, `"Berth.dev/x"`,
	} {
		require.ErrorContains(t, err, problem)
	}
	_, err = cdi.New(cdi.Config{Lease: cdi.Lease{ID: "a", Epoch: 1}})
	require.ErrorContains(t, err, "at least one device node")
}

// E3: names hold lease and epoch, are injective, and lead back to the lease; a file name is one plain component.
func TestNamesE3(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genLease().Draw(t, "a"), genLease().Draw(t, "b")
		if rapid.Bool().Draw(t, "same id") {
			b.ID = a.ID
		}
		nameA, err := a.DeviceName()
		require.NoError(t, err)
		nameB, err := b.DeviceName()
		require.NoError(t, err)
		fileA, err := a.FileName(cdi.DefaultKind)
		require.NoError(t, err)
		fileB, err := b.FileName(cdi.DefaultKind)
		require.NoError(t, err)
		require.Equal(t, a == b, nameA == nameB)
		require.Equal(t, a == b, fileA == fileB)
		require.Contains(t, nameA, a.ID)
		require.Regexp(t, `^berth\.dev-gpu_[A-Za-z0-9][A-Za-z0-9._-]*\.json$`, fileA)
		require.LessOrEqual(t, len(fileA), 255)
		back, err := cdi.ParseDeviceName(nameA)
		require.NoError(t, err)
		require.Equal(t, a, back)
	})
}

func TestLeaseNamesRefuse(t *testing.T) {
	for _, id := range []string{"", ".", "..", "../x", "a/b", "a\\b", "-a", "a-", "a b", "a\x00b", "é", "a:b", strings.Repeat("x", 129)} {
		lease := cdi.Lease{ID: id, Epoch: 1}
		_, err := lease.DeviceName()
		require.ErrorIs(t, err, cdi.ErrInvalidLease, "%q", id)
		_, err = lease.FileName(cdi.DefaultKind)
		require.ErrorIs(t, err, cdi.ErrInvalidLease, "%q", id)
	}
	for _, kind := range []string{"", "gpu", "/gpu", "berth.dev/", "berth.dev/gpu/x", "9.dev/gpu", "berth.dev/9", "../gpu", "a/" + strings.Repeat("x", 64)} {
		_, err := cdi.Lease{ID: "a", Epoch: 1}.FileName(kind)
		require.ErrorIs(t, err, cdi.ErrInvalidSpec, "%q", kind)
		_, err = cdi.Lease{ID: "a", Epoch: 1}.QualifiedName(kind)
		require.ErrorIs(t, err, cdi.ErrInvalidSpec, "%q", kind)
	}
	_, err := cdi.Lease{ID: strings.Repeat("x", 128), Epoch: 1}.FileName(strings.Repeat("v", 200) + "/gpu")
	require.ErrorContains(t, err, "choose a shorter kind or lease id")
	for _, name := range []string{"", "a", "a-e", "-e1", "a-e0", "a-e01", "a-e+1", "a-e18446744073709551616", "a/b-e1"} {
		_, err := cdi.ParseDeviceName(name)
		require.ErrorIs(t, err, cdi.ErrInvalidLease, "%q", name)
	}
}

// E4: each field raises the version that the released schemas say.
func TestMinimumVersionE4(t *testing.T) {
	timeoutless := cdi.Hook{HookName: "poststop", Path: "/bin/true"}
	for _, c := range []struct {
		version string
		change  func(*cdi.Spec)
	}{
		{"0.3.0", func(*cdi.Spec) {}},
		{"0.3.0", func(s *cdi.Spec) { s.ContainerEdits.Hooks = []cdi.Hook{timeoutless} }},
		{"0.3.0", func(s *cdi.Spec) { s.ContainerEdits.Mounts = []cdi.Mount{{HostPath: "/a", ContainerPath: "/b"}} }},
		{"0.4.0", func(s *cdi.Spec) {
			s.ContainerEdits.Mounts = []cdi.Mount{{HostPath: "/a", ContainerPath: "/b", Type: "none"}}
		}},
		{"0.5.0", func(s *cdi.Spec) { s.Devices[0].Name = "0" }},
		{"0.5.0", func(s *cdi.Spec) { s.Devices[0].ContainerEdits.DeviceNodes[0].HostPath = "/dev/x" }},
		{"0.6.0", func(s *cdi.Spec) { s.Annotations = map[string]string{"a": ""} }},
		{"0.6.0", func(s *cdi.Spec) { s.Devices[0].Annotations = map[string]string{"a": ""} }},
		{"0.6.0", func(s *cdi.Spec) { s.Kind = "berth.dev/gpu.mig" }},
		{"0.7.0", func(s *cdi.Spec) { s.ContainerEdits.AdditionalGIDs = []uint32{44} }},
		{"0.7.0", func(s *cdi.Spec) { s.Devices[0].ContainerEdits.IntelRDT = &cdi.IntelRDT{ClosID: "a"} }},
		{"1.1.0", func(s *cdi.Spec) { s.ContainerEdits.IntelRDT = &cdi.IntelRDT{EnableMonitoring: true} }},
		{"1.1.0", func(s *cdi.Spec) { s.ContainerEdits.NetDevices = []cdi.NetDevice{{HostInterfaceName: "a", Name: "b"}} }},
	} {
		spec := cdi.Spec{
			Version: cdi.CurrentVersion,
			Kind:    cdi.DefaultKind,
			Devices: []cdi.Device{{Name: "a", ContainerEdits: cdi.ContainerEdits{DeviceNodes: []cdi.DeviceNode{gpuNode(0)}}}},
		}
		c.change(&spec)
		require.NoError(t, spec.Validate())
		require.Equal(t, c.version, cdi.MinimumVersion(spec))
		spec.Version = c.version
		require.NoError(t, spec.Validate())
		if c.version != "0.3.0" {
			spec.Version = "0.3.0"
			require.ErrorContains(t, spec.Validate(), "need at least "+c.version)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	timeout := int64(0)
	edits := cdi.ContainerEdits{
		Env:         []string{"NOVALUE", "A=\xff"},
		DeviceNodes: []cdi.DeviceNode{gpuNode(0), gpuNode(1), {Path: "/dev/../etc/x", HostPath: "x"}},
		NetDevices:  []cdi.NetDevice{{HostInterfaceName: "a", Name: "b"}, {HostInterfaceName: "a"}},
		Hooks:       []cdi.Hook{{HookName: "whenever", Path: "relative", Env: []string{"x"}, Timeout: &timeout}},
		Mounts:      []cdi.Mount{{HostPath: "/a/", ContainerPath: ""}},
		IntelRDT:    &cdi.IntelRDT{ClosID: ".."},
	}
	err := cdi.Spec{
		Version:        "9.9.9",
		Kind:           "nokind",
		Annotations:    map[string]string{"big": strings.Repeat("x", 256<<10)},
		Devices:        []cdi.Device{{Name: "a/b"}, {Name: "a", ContainerEdits: edits}, {Name: "a", ContainerEdits: edits}},
		ContainerEdits: edits,
	}.Validate()
	require.ErrorIs(t, err, cdi.ErrInvalidSpec)
	for _, problem := range []string{
		`cdiVersion "9.9.9"`, `kind "nokind"`, `annotations "262147"`, `devices[0].name "a/b"`, `devices[0].containerEdits "{}"`,
		`devices[2].name "a": is also that of devices[1]`, `containerEdits.env[0] "NOVALUE"`, `env[1] "A=\xff": must be UTF-8`,
		`deviceNodes[1].path "/dev/nvidia0": occurs twice`, `deviceNodes[2].path "/dev/../etc/x"`, `hostPath "x"`,
		`netDevices[1].hostInterfaceName "a"`, `netDevices[1].name ""`, `hookName "whenever"`, `hooks[0].path "relative"`,
		`hooks[0].env[0] "x"`, `timeout "0"`, `mounts[0].hostPath "/a/"`, `mounts[0].containerPath ""`, `closID ".."`,
		`devices[2].containerEdits.mounts[0].hostPath`,
	} {
		require.ErrorContains(t, err, problem)
	}
	require.ErrorContains(t, cdi.Spec{Version: "1.1.0", Kind: "a/b"}.Validate(), "want at least one device")
	_, err = cdi.Encode(cdi.Spec{})
	require.ErrorIs(t, err, cdi.ErrInvalidSpec)
}
