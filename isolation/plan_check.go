// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"bytes"
	"fmt"
	"maps"

	"github.com/berth-gpu/berth/isolation/cdi"
	"github.com/berth-gpu/berth/nvmlx"
)

// Validate reports everything in the plan that its lease does not explain (H3): a plan that was decoded, or put together by hand, must
// grant the GPUs of its lease and nothing else, under the lease's names. Only the numbers of the device files, which come from the node,
// are taken as they are; [Verify] compares those. Cost: O(l log l) for l GPUs of the lease.
//
// Possible errors, all joined: [ErrInvalidPlan], and those of [Lease.Validate].
func (p Plan) Validate() error {
	m := &mistakes{}
	p.Lease.check(m)
	if m.join() != nil {
		return m.join() // the rest follows from the lease
	}
	p.checkDevices(m)
	if m.join() == nil {
		p.checkSpec(m)
	}
	return m.join()
}

// checkDevices compares the list with the one that the lease makes: its GPUs, then the control files.
func (p Plan) checkDevices(m *mistakes) {
	ids := p.Lease.gpuIDs()
	if len(p.Devices) != len(ids)+2 {
		m.add(ErrInvalidPlan, "devices", fmt.Sprintf("%d devices", len(p.Devices)),
			fmt.Sprintf("want %d: one for each GPU of the lease, nvidiactl and nvidia-uvm; plan the lease again", len(ids)+2))
		return
	}
	control, uvm := p.Devices[len(ids)], p.Devices[len(ids)+1]
	minors := map[int64]bool{}
	for i, have := range p.Devices {
		var want DeviceNode
		switch {
		case i < len(ids):
			want = DeviceNode{GPU: ids[i], Path: gpuPath(nvmlx.Minor(have.Minor)), Major: control.Major, Minor: have.Minor, Access: access}
			if have.Minor < 0 || have.Minor > int64(nvmlx.MaxMinor) || minors[have.Minor] {
				m.add(ErrInvalidPlan, fmt.Sprintf("devices[%d].minor", i), have.Minor, fmt.Sprintf("want 0 to %d, each once", nvmlx.MaxMinor))
			}
			minors[have.Minor] = true
		case i == len(ids):
			want = DeviceNode{Path: controlPath, Major: have.Major, Minor: controlMinor, Access: access}
		default:
			want = DeviceNode{Path: uvmPath, Major: have.Major, Minor: uvmMinor, Access: access}
		}
		if have != want {
			m.add(ErrInvalidPlan, fmt.Sprintf("devices[%d]", i), deviceText(have), "the lease has here "+deviceText(want)+"; plan it again")
		}
	}
	if control.Major < 1 || control.Major > maxMajor || uvm.Major < 1 || uvm.Major > maxMajor || control.Major == uvm.Major {
		m.add(ErrInvalidPlan, "devices", fmt.Sprintf("majors %d and %d", control.Major, uvm.Major), "want two majors from 1 to 4095")
	}
}

// checkSpec makes names, environment and document once more and compares.
func (p Plan) checkSpec(m *mistakes) {
	want, err := Plan{Lease: p.Lease, Devices: p.Devices}.withSpec(p.Spec.Kind)
	if err != nil {
		m.add(ErrInvalidPlan, "spec.kind", p.Spec.Kind, cut(err.Error()))
		return
	}
	if !maps.Equal(p.Env, want.Env) {
		m.add(ErrInvalidPlan, "env", p.Env, fmt.Sprintf("the lease has %v; plan it again", want.Env))
	}
	if p.Device != want.Device {
		m.add(ErrInvalidPlan, "device", p.Device, "the lease has "+cut(want.Device))
	}
	if p.SpecFile != want.SpecFile {
		m.add(ErrInvalidPlan, "specFile", p.SpecFile, "the lease has "+cut(want.SpecFile))
	}
	have, err := p.Document()
	if err != nil {
		m.add(ErrInvalidPlan, "spec", "", cut(err.Error()))
		return
	}
	if document, _ := cdi.Encode(want.Spec); !bytes.Equal(have, document) {
		m.add(ErrInvalidPlan, "spec", "the document", "is not that of lease and devices: "+firstDifference(document, have)+"; plan the lease again")
	}
}

func deviceText(d DeviceNode) string {
	return fmt.Sprintf("%s c %d:%d %s of %q", cut(d.Path), d.Major, d.Minor, cut(d.Access), cut(string(d.GPU)))
}
