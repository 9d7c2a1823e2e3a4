// SPDX-License-Identifier: Apache-2.0

// Command simulate replays the Alibaba "openb" trace against placement policies and prints which share of the GPUs each of
// them can hand out. Pods come one by one and stay; demand grows to 130 % of the capacity.
//
// With the lists it brings along, sim-best-fit and random reproduce the published figures of the USENIX ATC 2023 study
// (93.08 % and 87.47 %), which shows that the replay is right; the allocator's own policy stands beside them.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

//go:embed testdata/openb_node_list_gpu_node.csv
var openbNodes []byte

//go:embed testdata/openb_pod_list_default.csv
var openbPods []byte

// flags are the command line.
type flags struct {
	Nodes   string `help:"openb node list (CSV) to use instead of the one inside." type:"existingfile"`
	Pods    string `help:"openb pod list (CSV) to use instead of the one inside." type:"existingfile"`
	Seeds   string `help:"Seeds of the arrival order: numbers and ranges." default:"42-51"`
	SVG     string `name:"svg" help:"File for the plot; - for none." default:"simulate.svg"`
	Workers int    `help:"Replays at once; 0: one for each CPU."`
}

func main() {
	var f flags
	k := kong.Parse(&f, kong.Name("simulate"), kong.Description("Replays the openb trace against placement policies."))
	k.FatalIfErrorf(f.run(os.Stdout, newProgress(os.Stderr)))
}

func (f flags) run(out io.Writer, p progress) error {
	seeds, err := parseSeeds(f.Seeds)
	if err != nil {
		return err
	}
	nodes, err := content(f.Nodes, openbNodes)
	if err != nil {
		return err
	}
	cluster, err := readNodes(bytes.NewReader(nodes))
	if err != nil {
		return err
	}
	list, err := content(f.Pods, openbPods)
	if err != nil {
		return err
	}
	pods, err := readPods(bytes.NewReader(list))
	if err != nil {
		return err
	}
	workers := f.Workers
	if workers < 0 {
		return fmt.Errorf("--workers is %d: give 0 or more", workers)
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	results, err := study(cluster, pods, seeds, contenders, workers, p)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%d nodes, %d GPUs, %d pods, demand inflated to %d %%, mean of %d seeds", cluster.Count(), cluster.GPUCount(), len(pods), lastPercent, len(seeds))
	if _, err := fmt.Fprintf(out, "%s\nallocated share of the GPUs in %%:\n\n", title); err != nil {
		return err
	}
	if err := writeTable(out, results, cluster.GPUCount()); err != nil {
		return err
	}
	if f.SVG == "-" || f.SVG == "" {
		return nil
	}
	if err := os.WriteFile(f.SVG, []byte(plot(title, results)), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nplot: %s\n", f.SVG)
	return err
}

// content gives the file, or what the program brings along.
func content(file string, inside []byte) ([]byte, error) {
	if file == "" {
		return inside, nil
	}
	return os.ReadFile(file)
}

// parseSeeds reads "42-51", "1,2,7" and mixtures.
func parseSeeds(text string) ([]int64, error) {
	var out []int64
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		first, err := strconv.ParseInt(low, 10, 64)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseInt(high, 10, 64)
		}
		if err != nil || first < 0 || last < first || last-first >= 1000 {
			return nil, fmt.Errorf("--seeds is %q: give numbers and rising ranges such as 42-51, at most 1000 at once", text)
		}
		for s := first; s <= last; s++ {
			out = append(out, s)
		}
	}
	return out, nil
}
