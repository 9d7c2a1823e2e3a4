// SPDX-License-Identifier: Apache-2.0

package isolation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-gpu/berth/isolation"
)

const procDevices = `Character devices:
  1 mem
  4 /dev/vc/0
  4 tty
195 nvidia
195 nvidia-modeset
195 nvidiactl
237 nvidia-caps-imex-channels
238 nvidia-caps
508 nvidia-uvm

Block devices:
  7 loop
195 nvidia-uvm
259 blkext
`

func TestParseProcDevices(t *testing.T) {
	for name, text := range map[string]string{
		"since 545":     procDevices,
		"until 535":     "Character devices:\n195 nvidia-frontend\n508 nvidia-uvm\n",
		"no final line": "Character devices:\n508 nvidia-uvm\n195 nvidia",
		"CRLF":          strings.ReplaceAll(procDevices, "\n", "\r\n"),
	} {
		majors, err := isolation.ParseProcDevices([]byte(text))
		require.NoError(t, err, name)
		require.Equal(t, isolation.Majors{GPU: 195, UVM: 508}, majors, name)
	}
}

func TestParseProcDevicesRefuses(t *testing.T) {
	for _, c := range []struct{ text, problem string }{
		{"", `no character device "nvidia": load the NVIDIA driver`},
		{"Character devices:\n195 nvidia\n", `no character device "nvidia-uvm"`},
		{"195 nvidia\n508 nvidia-uvm\n", `no character device "nvidia"`}, // without a heading nothing is known
		{"Block devices:\n195 nvidia\n508 nvidia-uvm\n", `no character device "nvidia"`},
		{procDevices + "Character devices:\n509 nvidia-uvm\n", `line 17 "509 nvidia-uvm": the driver also has major 508`},
		{"Character devices:\nx nvidia\n", `line 2 "x nvidia": want a heading or a major`},
		{"Character devices:\n195\n", `line 2 "195": want a heading or a major`},
		{"Character devices:\n4096 nvidia\n", `line 2 "4096 nvidia"`},
		{"Character devices:\n-195 nvidia\n", `line 2 "-195 nvidia"`},
	} {
		majors, err := isolation.ParseProcDevices([]byte(c.text))
		require.ErrorIs(t, err, isolation.ErrInvalidProcDevices)
		require.ErrorContains(t, err, c.problem)
		require.Zero(t, majors)
	}
	_, err := isolation.ParseProcDevices([]byte(strings.Repeat("nonsense\n", 10_000)))
	require.Less(t, len(err.Error()), 4096) // the report is bounded, whatever the text is
}

func FuzzParseProcDevices(f *testing.F) {
	f.Add([]byte(procDevices))
	f.Add([]byte("Character devices:\n195 nvidia-frontend\n508 nvidia-uvm\n"))
	f.Add([]byte("Character devices:\n\t195\tnvidia\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		majors, err := isolation.ParseProcDevices(text)
		if err != nil {
			require.ErrorIs(t, err, isolation.ErrInvalidProcDevices)
			require.Zero(t, majors)
			return
		}
		require.Contains(t, string(text), "nvidia-uvm")
		for _, major := range []int64{majors.GPU, majors.UVM} {
			require.Positive(t, major)
			require.LessOrEqual(t, major, int64(4095))
		}
	})
}
