// SPDX-License-Identifier: Apache-2.0

package isolation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/isolation"
)

// V2: a plan does not differ from itself; revoke and grant lead from one plan to the other and back.
func TestDiffV2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) isolation.Plan {
			if rapid.IntRange(0, 4).Draw(t, name+" is nothing") == 0 {
				return isolation.Plan{}
			}
			plan, err := genLease(4).Draw(t, name).Plan(hostOf(genMinors(4).Draw(t, name+" minors")...))
			require.NoError(t, err)
			return plan
		}
		old, next := draw("old"), draw("next")
		require.True(t, isolation.Diff(old, old).Empty())
		changes, back := isolation.Diff(old, next), isolation.Diff(next, old)

		result := slices.DeleteFunc(slices.Clone(old.Devices), func(d isolation.DeviceNode) bool { return slices.Contains(changes.Revoke, d) })
		require.ElementsMatch(t, changes.Keep, result)
		require.ElementsMatch(t, next.Devices, append(result, changes.Grant...))

		require.ElementsMatch(t, changes.Grant, back.Revoke)
		require.ElementsMatch(t, changes.Revoke, back.Grant)
		require.ElementsMatch(t, changes.Keep, back.Keep)
		require.Len(t, back.Fields, len(changes.Fields))
		for i, field := range changes.Fields {
			require.Equal(t, isolation.FieldChange{Field: field.Field, Old: field.New, New: field.Old}, back.Fields[i])
		}

		documents := map[string]string{} // the directory before and after
		if old.SpecFile != "" {
			document, err := old.Document()
			require.NoError(t, err)
			documents[old.SpecFile] = string(document)
		}
		delete(documents, changes.RemoveSpec)
		want := map[string]string{}
		if next.SpecFile != "" {
			document, err := next.Document()
			require.NoError(t, err)
			want[next.SpecFile] = string(document)
		}
		if changes.WriteSpec != "" {
			documents[changes.WriteSpec] = want[changes.WriteSpec]
		}
		require.Equal(t, want, documents)
	})
}

// A renewal moves the end and touches neither device nor document.
func TestDiffRenewalWritesNothing(t *testing.T) {
	lease := isolation.Lease{ID: "a", Epoch: 1, Tenant: "t", Node: "node-1", GPUs: hostIDs(2)}
	lease.Start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	old := planOf(t, hostOf(0, 1), lease)
	lease.End = lease.Start.Add(time.Hour)
	changes := isolation.Diff(old, planOf(t, hostOf(0, 1), lease))
	require.Equal(t, isolation.Changes{
		Keep:   old.Devices,
		Fields: []isolation.FieldChange{{Field: "end", Old: "", New: "2030-01-01T01:00:00Z"}},
	}, changes)
	require.False(t, changes.Empty())
}

// The next epoch has a document of its own, and the old one goes.
func TestDiffNextEpoch(t *testing.T) {
	lease := isolation.Lease{ID: "a", Epoch: 1, Tenant: "t", Node: "node-1", GPUs: hostIDs(2)[:1]}
	old := planOf(t, hostOf(0, 1), lease)
	lease.Epoch, lease.GPUs = 2, hostIDs(2)[1:]
	changes := isolation.Diff(old, planOf(t, hostOf(0, 1), lease))
	require.Equal(t, "berth.dev-gpu_a-e1.json", changes.RemoveSpec)
	require.Equal(t, "berth.dev-gpu_a-e2.json", changes.WriteSpec)
	require.Equal(t, []isolation.DeviceNode{{GPU: gpuID(0), Path: "/dev/nvidia0", Major: 195, Access: "rw"}}, changes.Revoke)
	require.Equal(t, []isolation.DeviceNode{{GPU: gpuID(1), Path: "/dev/nvidia1", Major: 195, Minor: 1, Access: "rw"}}, changes.Grant)
	require.Equal(t, []isolation.FieldChange{
		{Field: "epoch", Old: "1", New: "2"}, {Field: "gpus", Old: `["GPU-a"]`, New: `["GPU-b"]`},
	}, changes.Fields)
}
