package h5backend

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

// shuffle is the filter as H5Zshuffle.c writes it.
func shuffle(b []byte, size int) []byte {
	out := make([]byte, 0, len(b))
	for j := range size {
		for i := j; i < len(b); i += size {
			out = append(out, b[i])
		}
	}
	return out
}

func TestSwapAndUnshuffle(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		for _, n := range []int{0, 1, 2, 7, 33, 1000} {
			plain := randomBytes(n * size)
			turned := slices.Clone(plain)
			swapOrder(turned, size)
			for i := range n {
				value := slices.Clone(plain[i*size:][:size])
				slices.Reverse(value)
				if !bytes.Equal(value, turned[i*size:][:size]) {
					t.Fatalf("swap of %d bytes: value %d differs", size, i)
				}
			}
			first := rand.IntN(n + 1)
			for _, swap := range []bool{false, true} {
				want := map[bool][]byte{false: plain, true: turned}[swap]
				got := make([]byte, rand.IntN(n-first+1)*size)
				unshuffle(got, shuffle(plain, size), size, first, swap)
				if !bytes.Equal(got, want[first*size:][:len(got)]) {
					t.Errorf("unshuffle of %d bytes, swap %v, %d values from %d of %d differs", size, swap, len(got)/size, first, n)
				}
			}
		}
	}
}

// encode is the pipeline as the library writes it.
func encode(filters []filter, b []byte, mask uint32) []byte {
	for i, f := range filters {
		if mask&(1<<i) != 0 {
			continue
		}
		switch f.id {
		case filterShuffle:
			b = shuffle(b, int(f.value))
		case filterDeflate:
			var out bytes.Buffer
			w := zlib.NewWriter(&out)
			w.Write(b)
			w.Close()
			b = out.Bytes()
		case filterFletcher:
			b = binary.LittleEndian.AppendUint32(slices.Clone(b), fletcher32(b))
		}
	}
	return b
}

// filterCase makes a pipeline of up to three filters and a mask from a number.
func filterCase(n uint16) (filters []filter, mask uint32) {
	kinds := [][]int{{}, {1}, {3}, {2}, {2, 1}, {2, 1, 3}, {2, 3, 1}, {1, 3}, {3, 1}, {2, 3}}
	for _, id := range kinds[int(n)%len(kinds)] {
		filters = append(filters, filter{id: id, value: 4})
	}
	return filters, uint32(n>>8) & 7
}

func TestPipelines(t *testing.T) {
	for n := range uint16(8 * 256) {
		filters, mask := filterCase(n)
		plain := bytes.Repeat(randomBytes(12), 10)
		p, err := newPipeline(filters, len(plain), 4)
		if err != nil {
			t.Fatal(err)
		}
		data, shuffled, err := p.decode(&scratch{}, encode(filters, plain, mask), mask)
		if err != nil {
			t.Fatalf("%v, mask %d: %v", filters, mask, err)
		}
		if shuffled {
			got := make([]byte, len(data))
			unshuffle(got, data, 4, 0, false)
			data = got
		}
		if !bytes.Equal(data, plain) {
			t.Fatalf("%v, mask %d: differs", filters, mask)
		}
	}
	for _, ids := range [][]int{{1, 1}, {1, 2}, {4}, {32000}, {3, 2}} {
		var filters []filter
		for _, id := range ids {
			filters = append(filters, filter{id: id, value: 4})
		}
		if _, err := newPipeline(filters, 16, 4); err == nil {
			t.Errorf("filters %v are taken", ids)
		}
	}
}

// Corrupt chunks are errors or have the right length: never a panic, and never memory that the dataset does not need.
func FuzzDecode(f *testing.F) {
	for n := range uint16(10) {
		filters, _ := filterCase(n)
		f.Add(n, encode(filters, bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 30), 0))
	}
	f.Fuzz(func(t *testing.T, n uint16, stored []byte) {
		filters, mask := filterCase(n)
		p, err := newPipeline(filters, 240, 4)
		if err != nil {
			t.Fatal(err)
		}
		s := &scratch{}
		data, shuffled, err := p.decode(s, stored, mask)
		if err != nil {
			return
		}
		if len(data) != 240 || cap(s.decoded) > 1024 {
			t.Fatalf("%d bytes, scratch of %d", len(data), cap(s.decoded))
		}
		if shuffled {
			unshuffle(make([]byte, 24), data, 4, 54, true)
		}
	})
}
