// SPDX-License-Identifier: Apache-2.0

package nvmlx_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/berth-gpu/berth/nvmlx"
)

func TestParsePCIAddress(t *testing.T) {
	for _, c := range []struct{ text, canonical string }{
		{"0000:17:00.0", "0000:17:00.0"},
		{"00000000:17:00.0", "0000:17:00.0"}, // NVML busId
		{"PCI:0000:17:00", "0000:17:00.0"},   // kernel message of the driver
		{"00000000:CA:1F.7", "0000:ca:1f.7"}, // nvidia-smi prints upper case
		{"10000:e1:00.0", "10000:e1:00.0"},   // VMD domains start above 16 bits
		{"FFFFFFFF:ff:1f.7", "ffffffff:ff:1f.7"},
		{"0009:01:00.0", "0009:01:00.0"},
	} {
		address, err := nvmlx.ParsePCIAddress(c.text)
		require.NoError(t, err, c.text)
		require.Equal(t, c.canonical, address.String())
	}
}

func TestParsePCIAddressRefuses(t *testing.T) {
	for _, c := range []struct{ text, problem string }{
		{"", "want domain:bus:device.function"},
		{"17:00.0", "want domain:bus:device.function"},
		{"0:0000:17:00.0", "want domain:bus:device.function"},
		{"000:17:00.0", `domain "000" needs 4 to 8`},
		{"000000000:17:00.0", `domain "000000000" needs 4 to 8`},
		{"0000:7:00.0", `bus "7" needs 2 to 2`},
		{"0000:17:20.0", `device "20" is above 1f`},
		{"0000:17:00.8", `function "8" is above 7`},
		{"0000:17:00.", `function "" needs 1 to 1`},
		{"0000:17:00.0 ", `function "0 " needs 1 to 1`},
		{"0000:+7:00.0", `bus "+7" is not hexadecimal`},
		{"0x00:17:00.0", `domain "0x00" is not hexadecimal`},
		{"0_00:17:00.0", `domain "0_00" is not hexadecimal`},
	} {
		_, err := nvmlx.ParsePCIAddress(c.text)
		require.ErrorIs(t, err, nvmlx.ErrInvalidPCIAddress, c.text)
		require.ErrorContains(t, err, c.problem)
	}
}

func genPCI() *rapid.Generator[nvmlx.PCIAddress] {
	return rapid.Custom(func(t *rapid.T) nvmlx.PCIAddress {
		return nvmlx.PCIAddress{
			Domain:   rapid.Uint32().Draw(t, "domain"),
			Bus:      rapid.Uint8().Draw(t, "bus"),
			Device:   rapid.Uint8Max(31).Draw(t, "device"),
			Function: rapid.Uint8Max(7).Draw(t, "function"),
		}
	})
}

// X6: text and value stand for one another, and the order is that of the four numbers.
func TestPCIAddressRoundTripX6(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := genPCI().Draw(t, "a"), genPCI().Draw(t, "b")
		parsed, err := nvmlx.ParsePCIAddress(a.String())
		require.NoError(t, err)
		require.Equal(t, a, parsed)
		require.Equal(t, a == b, a.String() == b.String())
		number := func(p nvmlx.PCIAddress) uint64 {
			return uint64(p.Domain)<<24 | uint64(p.Bus)<<16 | uint64(p.Device)<<8 | uint64(p.Function)
		}
		require.Equal(t, number(a) < number(b), a.Compare(b) < 0)
		require.Equal(t, number(a) == number(b), a.Compare(b) == 0)

		data, err := json.Marshal(a)
		require.NoError(t, err)
		var read nvmlx.PCIAddress
		require.NoError(t, json.Unmarshal(data, &read))
		require.Equal(t, a, read)
	})
}

func TestPCIAddressOutOfRangeIsNotWritten(t *testing.T) {
	_, err := json.Marshal(nvmlx.PCIAddress{Device: 32})
	require.ErrorIs(t, err, nvmlx.ErrInvalidPCIAddress)
	var kept = nvmlx.PCIAddress{Bus: 1}
	require.ErrorIs(t, json.Unmarshal([]byte(`"nonsense"`), &kept), nvmlx.ErrInvalidPCIAddress)
	require.Equal(t, nvmlx.PCIAddress{Bus: 1}, kept)
}

var canonicalPCI = regexp.MustCompile(`^([0-9a-f]{4}|[1-9a-f][0-9a-f]{4,7}):[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$`)

func FuzzParsePCIAddress(f *testing.F) {
	for _, seed := range []string{"0000:17:00.0", "00000000:CA:1F.7", "PCI:0000:17:00", "17:00.0", "0000:17:00.", ":::.", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, err := nvmlx.ParsePCIAddress(text)
		if err != nil {
			require.ErrorIs(t, err, nvmlx.ErrInvalidPCIAddress)
			require.Zero(t, address)
			return
		}
		require.Regexp(t, canonicalPCI, address.String())
		again, err := nvmlx.ParsePCIAddress(address.String())
		require.NoError(t, err)
		require.Equal(t, address, again)
	})
}
