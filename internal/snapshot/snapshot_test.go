package snapshot

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func owners(n, nodes int) []uint16 {
	r := rand.New(rand.NewPCG(1, uint64(nodes)))
	out := make([]uint16, n)
	for i := range out {
		if out[i] = uint16(r.IntN(nodes)); r.IntN(2) == 0 {
			out[i] = math.MaxUint16
		}
	}
	return out
}

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		samples, nodes int
		bits           float64 // per sample at most
	}{{1, 1, 1e3}, {100_000, 1, 2}, {100_000, 16, 3.7}, {100_000, 254, 5.6}, {100_000, 255, 9.6}, {100_000, 65535, 14}} {
		want := owners(c.samples, c.nodes)
		data, err := Encode(want, c.nodes)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(data, c.samples, c.nodes)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d nodes: not what was written, %v", c.nodes, err)
		}
		if bits := float64(8*len(data)) / float64(c.samples); bits > c.bits {
			t.Errorf("%d nodes: %.2f bits per sample, want %v at most", c.nodes, bits, c.bits)
		}
	}
}

func TestDamage(t *testing.T) {
	data, err := Encode(owners(10_000, 16), 16)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(data, 9_999, 16); err == nil {
		t.Error("another number of samples is accepted")
	}
	if _, err := Decode(data[:len(data)-1], 10_000, 16); err == nil {
		t.Error("a cut snapshot is accepted")
	}
	for at := 0; at < len(data); at += 97 {
		bad := slices.Clone(data)
		bad[at] ^= 0x10
		if got, err := Decode(bad, 10_000, 16); err == nil && !slices.Equal(got, owners(10_000, 16)) {
			t.Errorf("a damaged byte %d is not noticed", at)
		}
	}
}

func FuzzDecode(f *testing.F) {
	data, _ := Encode(owners(50, 3), 3)
	f.Add(data, 50, 3)
	f.Fuzz(func(t *testing.T, data []byte, samples, nodes int) {
		samples, nodes = max(0, samples%10_000), max(1, nodes%70_000)
		if got, err := Decode(data, samples, nodes); err == nil && len(got) != samples {
			t.Errorf("%d owners, want %d", len(got), samples)
		}
	})
}
