// SPDX-License-Identifier: Apache-2.0

package cdi_test

import (
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation/cdi"
)

func genLease() *rapid.Generator[cdi.Lease] {
	return rapid.Custom(func(t *rapid.T) cdi.Lease {
		return cdi.Lease{
			// "-e1" inside an id is the case that could confuse the names.
			ID:    rapid.StringMatching(`[a-z0-9]([a-z0-9._-]{0,6}[a-z0-9])?(-e[0-9]{1,2}){0,2}`).Draw(t, "id"),
			Epoch: rapid.OneOf(rapid.Uint64Range(1, 12), rapid.Uint64Min(1)).Draw(t, "epoch"),
		}
	})
}

func genPath() *rapid.Generator[string] { return rapid.StringMatching(`(/[a-z0-9]{1,4}){1,3}`) }

func genEnv() *rapid.Generator[string] { return rapid.StringMatching(`[A-Z_]{1,5}=[ -~é<>&]{0,5}`) }

func optional[T any](t *rapid.T, name string, values *rapid.Generator[T]) *T {
	if !rapid.Bool().Draw(t, name+" given") {
		return nil
	}
	value := values.Draw(t, name)
	return &value
}

// list draws nil instead of an empty list: the two are the same document.
func list[T any](t *rapid.T, name string, values *rapid.Generator[T]) []T {
	drawn := rapid.SliceOfN(values, 0, 2).Draw(t, name)
	if len(drawn) == 0 {
		return nil
	}
	return drawn
}

func genNode() *rapid.Generator[cdi.DeviceNode] {
	return rapid.Custom(func(t *rapid.T) cdi.DeviceNode {
		return cdi.DeviceNode{
			Path:        genPath().Draw(t, "path"),
			HostPath:    rapid.OneOf(rapid.Just(""), genPath()).Draw(t, "hostPath"),
			Type:        rapid.SampledFrom([]string{"", "b", "c", "u", "p"}).Draw(t, "type"),
			Major:       rapid.Int64Range(0, 1<<40).Draw(t, "major"),
			Minor:       rapid.Int64Range(0, 1<<40).Draw(t, "minor"),
			FileMode:    optional(t, "fileMode", rapid.Uint32()),
			Permissions: rapid.SampledFrom([]string{"", "r", "rw", "rwm", "none"}).Draw(t, "permissions"),
			UID:         optional(t, "uid", rapid.Uint32()),
			GID:         optional(t, "gid", rapid.Uint32()),
		}
	})
}

func genHook() *rapid.Generator[cdi.Hook] {
	return rapid.Custom(func(t *rapid.T) cdi.Hook {
		return cdi.Hook{
			HookName: rapid.SampledFrom([]string{"prestart", "createContainer", "poststop"}).Draw(t, "hookName"),
			Path:     genPath().Draw(t, "path"),
			Args:     list(t, "args", rapid.StringMatching(`[ -~é]{0,5}`)),
			Env:      list(t, "env", genEnv()),
			Timeout:  optional(t, "timeout", rapid.Int64Min(1)),
		}
	})
}

func genMount() *rapid.Generator[cdi.Mount] {
	return rapid.Custom(func(t *rapid.T) cdi.Mount {
		return cdi.Mount{
			HostPath:      genPath().Draw(t, "hostPath"),
			ContainerPath: genPath().Draw(t, "containerPath"),
			Options:       list(t, "options", rapid.SampledFrom([]string{"ro", "rbind"})),
			Type:          rapid.SampledFrom([]string{"", "none"}).Draw(t, "type"),
		}
	})
}

func genEdits() *rapid.Generator[cdi.ContainerEdits] {
	return rapid.Custom(func(t *rapid.T) cdi.ContainerEdits {
		edits := cdi.ContainerEdits{
			Env:            list(t, "env", genEnv()),
			Hooks:          list(t, "hooks", genHook()),
			Mounts:         list(t, "mounts", genMount()),
			AdditionalGIDs: list(t, "gids", rapid.Uint32()),
		}
		paths := map[string]bool{}
		for _, node := range list(t, "nodes", genNode()) {
			if !paths[node.Path] {
				edits.DeviceNodes = append(edits.DeviceNodes, node)
			}
			paths[node.Path] = true
		}
		if rapid.Bool().Draw(t, "net") {
			edits.NetDevices = []cdi.NetDevice{{HostInterfaceName: "mlx5_0", Name: "eth1"}}
		}
		edits.IntelRDT = optional(t, "rdt", rapid.Custom(func(t *rapid.T) cdi.IntelRDT {
			return cdi.IntelRDT{
				ClosID:           rapid.StringMatching(`[a-z]{0,4}`).Draw(t, "closID"),
				Schemata:         list(t, "schemata", rapid.StringMatching(`[a-z:=0-9]{1,5}`)),
				EnableMonitoring: rapid.Bool().Draw(t, "monitoring"),
			}
		}))
		return edits
	})
}

func genAnnotations() *rapid.Generator[map[string]string] {
	return rapid.Custom(func(t *rapid.T) map[string]string {
		drawn := rapid.MapOfN(rapid.StringMatching(`([a-z]{1,3}\.[a-z]{1,3}/)?[A-Za-z0-9]{1,5}`), rapid.StringMatching(`[ -~é<>&]{0,5}`), 0, 3).Draw(t, "map")
		if len(drawn) == 0 {
			return nil
		}
		return drawn
	})
}

// genSpec draws valid documents over the whole schema.
func genSpec() *rapid.Generator[cdi.Spec] {
	return rapid.Custom(func(t *rapid.T) cdi.Spec {
		spec := cdi.Spec{
			Kind:           rapid.StringMatching(`[a-z]{1,3}(\.[a-z]{1,3})?/[a-z]([a-z.-]{0,3}[a-z])?`).Draw(t, "kind"),
			Annotations:    genAnnotations().Draw(t, "annotations"),
			ContainerEdits: genEdits().Draw(t, "edits"),
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9]([a-z.:_-]{0,3}[a-z0-9])?`), 1, 3, rapid.ID).Draw(t, "names") {
			device := cdi.Device{
				Name:           name,
				Annotations:    genAnnotations().Draw(t, "annotations"),
				ContainerEdits: genEdits().Draw(t, "edits"),
			}
			if device.ContainerEdits.IsZero() {
				device.ContainerEdits.Env = []string{"A=b"}
			}
			spec.Devices = append(spec.Devices, device)
		}
		spec.Version = cdi.MinimumVersion(spec)
		return spec
	})
}
