// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/berth-gpu/berth/allocator"
	"github.com/berth-gpu/berth/topology"
)

// threeNodes is a small cluster for the examples.
func threeNodes() *topology.Cluster {
	c, err := topology.New(topology.Config{
		Shapes: []topology.ShapeSpec{{Name: "a10x8", Model: "A10", GPUs: 8, CPUMilli: 96_000, MemoryMiB: 524_288}},
		Nodes:  []topology.NodeSpec{{ID: "node-1", Shape: "a10x8"}, {ID: "node-2", Shape: "a10x8"}, {ID: "node-3", Shape: "a10x8"}},
	})
	if err != nil {
		panic(err)
	}
	return c
}

var now = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func Example() {
	cluster := threeNodes()
	fleet, err := allocator.New(allocator.Config{Cluster: cluster})
	if err != nil {
		fmt.Println(err)
		return
	}
	placed, err := fleet.Place(now, allocator.Request{
		ID: "train-7", Tenant: "vision",
		Groups: []allocator.Group{{Name: "worker", Count: 2, Pod: allocator.Pod{GPUs: 8, CPUMilli: 64_000}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range placed.Assignments {
		fmt.Println(cluster.ID(a.Node), a.GPUs)
	}
	_, err = fleet.Place(now, allocator.Request{
		ID: "train-8", Tenant: "speech",
		Groups: []allocator.Group{{Name: "worker", Count: 2, Pod: allocator.Pod{GPUs: 8, CPUMilli: 64_000}}},
	})
	if e, ok := errors.AsType[*allocator.UnplaceableError](err); ok {
		fmt.Println(e)
	}
	fmt.Println(fleet.Release(now.Add(time.Hour), "train-7"))
	// Output:
	// node-1 [0 1 2 3 4 5 6 7]
	// node-2 [0 1 2 3 4 5 6 7]
	// allocator: no place: request "train-8": group 0 has room for 1 of 2 pods; 3 nodes: 2 gpu, 1 fits; nearest is node "node-1", 8 GPUs short, 32000 milli-CPU short; what would help: wait until running work is released
	// <nil>
}

// Parts of GPUs go where the least stays free, so that whole GPUs stay whole.
func ExampleFleet_Place_fractions() {
	fleet, _ := allocator.New(allocator.Config{Cluster: threeNodes()})
	for _, milli := range []int64{500, 300, 600, 200} {
		p, _ := fleet.Place(now, allocator.Request{
			ID: fmt.Sprintf("notebook-%d", milli), Tenant: "vision",
			Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUMilli: milli, CPUMilli: 4000}}},
		})
		fmt.Println(milli, "on GPU", p.Assignments[0].GPUs[0])
	}
	fmt.Println(fleet.Free(0).GPUMilli)
	// Output:
	// 500 on GPU 0
	// 300 on GPU 0
	// 600 on GPU 1
	// 200 on GPU 0
	// [0 400 1000 1000 1000 1000 1000 1000]
}

// A what-if is a fork that is dropped.
func ExampleFleet_Fork() {
	fleet, _ := allocator.New(allocator.Config{Cluster: threeNodes()})
	whatIf := fleet.Fork()
	_ = whatIf.Cordon(now, "node-1", "maintenance", "new fan")
	_ = whatIf.Cordon(now, "node-2", "maintenance", "new fan")
	ask := allocator.Request{ID: "a", Tenant: "vision", Groups: []allocator.Group{{Count: 2, Pod: allocator.Pod{GPUs: 8}}}}
	_, err := whatIf.Plan(now, ask)
	fmt.Println(errors.Is(err, allocator.ErrUnplaceable))
	_, err = fleet.Plan(now, ask)
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// Two plans for the same GPUs: the first commit wins, the second is told to plan again.
func ExampleFleet_Commit() {
	fleet, _ := allocator.New(allocator.Config{Cluster: threeNodes()})
	_ = fleet.Cordon(now, "node-1", "maintenance", "")
	_ = fleet.Cordon(now, "node-2", "maintenance", "")
	first, _ := fleet.Plan(now, allocator.Request{ID: "a", Tenant: "vision", Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUs: 8}}}})
	second, _ := fleet.Plan(now, allocator.Request{ID: "b", Tenant: "vision", Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUs: 8}}}})
	_, err := fleet.Commit(now, first)
	fmt.Println(err)
	_, err = fleet.Commit(now, second)
	fmt.Println(err)
	// Output:
	// <nil>
	// allocator: plan is stale: group 0 pod 0 on node "node-3": the node is out by reason gpu: plan again
}

func ExampleFleet_Explain() {
	fleet, _ := allocator.New(allocator.Config{Cluster: threeNodes()})
	_ = fleet.Cordon(now, "node-1", "maintenance", "new fan")
	_ = fleet.FailGPU(now, "node-2", 5, "health")
	_ = fleet.SetFreeUntil(now, "node-3", now.Add(4*time.Hour))
	x, _ := fleet.Explain(now, allocator.Request{
		ID: "a", Tenant: "vision", Until: now.Add(24 * time.Hour),
		Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUs: 8}}},
	})
	for _, c := range x.Counts {
		fmt.Println(c.Nodes, c.Reason)
	}
	for _, h := range x.Help {
		fmt.Println("help:", h.Kind)
	}
	// Output:
	// 1 gpu-failed
	// 1 until
	// 1 cordoned
	// help: heal
	// help: end-by
	// help: uncordon
}

// The log of one fleet makes another one equal to it.
func ExampleFleet_Apply() {
	cluster := threeNodes()
	fleet, _ := allocator.New(allocator.Config{Cluster: cluster})
	snapshot, _ := fleet.MarshalBinary()
	_, _ = fleet.Place(now, allocator.Request{ID: "a", Tenant: "vision", Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUMilli: 250}}}})
	var log [][]byte
	for _, e := range fleet.TakeEvents() {
		b, _ := e.AppendBinary(nil)
		log = append(log, b)
	}
	copied, _ := allocator.Restore(snapshot, cluster)
	for _, b := range log {
		e, _ := allocator.DecodeEvent(b)
		fmt.Println(e.Kind(), copied.Apply(e))
	}
	fmt.Println(copied.Free(0).GPUMilli[0])
	// Output:
	// placed <nil>
	// 750
}

// leastCPU is a policy of a user: the node with the least free CPU.
type leastCPU struct{}

func (leastCPU) Name() string                                        { return "least-cpu" }
func (leastCPU) Score(_ allocator.Ask, n *allocator.NodeState) int64 { return n.CPUMilli() }
func (leastCPU) Pick(a allocator.Ask, n *allocator.NodeState, d []int) []int {
	if a.Pod.GPUMilli == 0 {
		return n.Lowest(a.Pod.GPUs, d)
	}
	g, _ := n.Tightest(a.Pod.GPUMilli)
	return append(d, g)
}

func ExamplePolicy() {
	fleet, _ := allocator.New(allocator.Config{Cluster: threeNodes(), Policy: leastCPU{}})
	fmt.Println(fleet.Policy().Name())
	// Output: least-cpu
}

// Best fit keeps CPU for the GPUs it leaves free: a pod that needs much CPU goes where the GPUs are in use.
func ExampleBestFit() {
	for _, policy := range []allocator.Policy{allocator.BestFit{KeepCPUMilli: -1}, allocator.BestFit{}} {
		fleet, _ := allocator.New(allocator.Config{Cluster: threeNodes(), Policy: policy})
		for _, work := range []struct {
			id  string
			pod allocator.Pod
		}{{"half", allocator.Pod{GPUs: 4, CPUMilli: 60_000}}, {"parser", allocator.Pod{CPUMilli: 30_000}}} {
			p, _ := fleet.Place(now, allocator.Request{ID: work.id, Tenant: "vision", Groups: []allocator.Group{{Count: 1, Pod: work.pod}}})
			fmt.Print(work.id, " on ", fleet.Cluster().ID(p.Assignments[0].Node), "; ")
		}
		fmt.Println("CPU beside 4 free GPUs:", fleet.Free(0).CPUMilli)
	}
	// Output:
	// half on node-1; parser on node-1; CPU beside 4 free GPUs: 6000
	// half on node-1; parser on node-2; CPU beside 4 free GPUs: 36000
}

// A node is free again when every owner has let go of it.
func ExampleFleet_Cordon() {
	fleet, _ := allocator.New(allocator.Config{Cluster: threeNodes()})
	_ = fleet.Cordon(now, "node-1", "maintenance", "new fan")
	_ = fleet.Cordon(now, "node-1", "health", "XID 79")
	_ = fleet.Uncordon(now, "node-1", "maintenance")
	for c := range fleet.Cordons() {
		fmt.Println(c.Node, c.Owner, c.Reason)
	}
	fmt.Println(fleet.Free(0).Cordoned)
	// Output:
	// node-1 health XID 79
	// true
}

// A tenant sees the reasons and the sums, not what others have.
func ExampleUnplaceableError_For() {
	fleet, _ := allocator.New(allocator.Config{Cluster: threeNodes()})
	_, _ = fleet.Place(now, allocator.Request{ID: "a", Tenant: "vision", Groups: []allocator.Group{{Count: 3, Pod: allocator.Pod{GPUs: 6}}}})
	_, err := fleet.Plan(now, allocator.Request{ID: "b", Tenant: "speech", Groups: []allocator.Group{{Count: 1, Pod: allocator.Pod{GPUs: 4}}}})
	if e, ok := errors.AsType[*allocator.UnplaceableError](err); ok {
		fmt.Println(e.For("speech"))
	}
	// Output:
	// allocator: no place: request "b": group 0 has room for 0 of 1 pods; 3 nodes: 3 gpu; what would help: wait until running work is released
}

// The program keeps the cluster, so a decoded event gets it back before it is applied.
func ExampleClusterChanged_On() {
	before := threeNodes()
	after, _ := before.Apply(topology.Change{Remove: []topology.NodeID{"node-3"}})
	fleet, _ := allocator.New(allocator.Config{Cluster: before})
	replica := fleet.Fork()
	_ = fleet.SetCluster(now, after)
	b, _ := fleet.TakeEvents()[0].AppendBinary(nil)
	e, _ := allocator.DecodeEvent(b)
	if changed, ok := e.(allocator.ClusterChanged); ok {
		e = changed.On(after)
	}
	fmt.Println(replica.Apply(e), replica.Totals().Nodes)
	// Output: <nil> 2
}
