// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
)

// marks are the arrived demands of the table, in percent of the capacity.
var marks = []int{80, 90, 95, 100, 110, 120, 130}

// writeTable prints the allocated share in percent, means over the seeds.
func writeTable(w io.Writer, results []result, gpus int64) error {
	text := fmt.Sprintf("%-16s", "arrived demand")
	for _, m := range marks {
		text += fmt.Sprintf(" %6d%%", m)
	}
	text += fmt.Sprintf(" %8s %12s\n", "sd", "free GPUs")
	for _, r := range results {
		text += fmt.Sprintf("%-16s", r.label)
		for _, m := range marks {
			text += fmt.Sprintf(" %7.2f", r.mean[m])
		}
		text += fmt.Sprintf(" %8.2f %12.1f\n", r.sd, float64(gpus)*(100-r.mean[lastPercent])/100)
	}
	_, err := io.WriteString(w, text)
	return err
}
