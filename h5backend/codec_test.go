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

// fletcherPlain is the checksum word by word.
func fletcherPlain(b []byte) uint32 {
	var s1, s2 uint64
	for len(b) > 0 {
		v := uint64(b[0]) << 8
		if len(b) > 1 {
			v |= uint64(b[1])
		}
		s1 = fold(s1 + v)
		s2 = fold(s2 + s1)
		b = b[min(2, len(b)):]
	}
	return uint32(s2<<16 | s1)
}

func FuzzFletcher(f *testing.F) {
	f.Add([]byte{}, uint16(0))
	f.Add([]byte{0xff}, uint16(9000))
	f.Add([]byte{0, 0, 0}, uint16(3000))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7}, uint16(5))
	f.Fuzz(func(t *testing.T, b []byte, n uint16) {
		for _, data := range [][]byte{b, bytes.Repeat(b, int(n)%1000), append(bytes.Repeat([]byte{0xff}, int(n)), b...)} {
			if got, want := fletcher32(data), fletcherPlain(data); got != want {
				t.Fatalf("%d bytes: %x, want %x", len(data), got, want)
			}
		}
	})
}

func TestFletcher(t *testing.T) {
	for range 300 {
		b := randomBytes(rand.IntN(20000))
		if got, want := fletcher32(b), fletcherPlain(b); got != want {
			t.Fatalf("%d bytes: %x, want %x", len(b), got, want)
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
		into := make([]byte, len(plain)*rand.IntN(2)) // there, or not
		data, err := p.decode(&decoder{}, into, encode(filters, plain, mask), mask)
		if err != nil {
			t.Fatalf("%v, mask %d: %v", filters, mask, err)
		}
		if p.shuffled(mask) {
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
		d := &decoder{}
		data, err := p.decode(d, nil, stored, mask)
		if err != nil {
			return
		}
		if len(data) != 240 || cap(d.decoded) > 1024 {
			t.Fatalf("%d bytes, scratch of %d", len(data), cap(d.decoded))
		}
		if p.shuffled(mask) {
			unshuffle(make([]byte, 24), data, 4, 54, true)
		}
	})
}
