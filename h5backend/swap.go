package h5backend

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// swapOrder reverses the bytes of every value of size bytes in b, in place.
func swapOrder(b []byte, size int) {
	switch size {
	case 2:
		b = swap2(b)
	case 4:
		b = swap4(b)
	case 8:
		b = swap8(b)
	}
	for ; size > 1 && len(b) >= size; b = b[size:] {
		slices.Reverse(b[:size])
	}
}

// swap2, swap4 and swap8 go over b as long as there are 32 bytes, and give the rest.

func swap2(b []byte) []byte {
	ne := binary.NativeEndian
	swap := func(v uint64) uint64 { return v>>8&bytes1 | v&bytes1<<8 }
	for ; len(b) >= 32; b = b[32:] {
		ne.PutUint64(b, swap(ne.Uint64(b)))
		ne.PutUint64(b[8:], swap(ne.Uint64(b[8:])))
		ne.PutUint64(b[16:], swap(ne.Uint64(b[16:])))
		ne.PutUint64(b[24:], swap(ne.Uint64(b[24:])))
	}
	return b
}

func swap4(b []byte) []byte {
	ne := binary.NativeEndian
	swap := func(v uint64) uint64 { return bits.RotateLeft64(bits.ReverseBytes64(v), 32) }
	for ; len(b) >= 32; b = b[32:] {
		ne.PutUint64(b, swap(ne.Uint64(b)))
		ne.PutUint64(b[8:], swap(ne.Uint64(b[8:])))
		ne.PutUint64(b[16:], swap(ne.Uint64(b[16:])))
		ne.PutUint64(b[24:], swap(ne.Uint64(b[24:])))
	}
	return b
}

func swap8(b []byte) []byte {
	ne := binary.NativeEndian
	for ; len(b) >= 32; b = b[32:] {
		ne.PutUint64(b, bits.ReverseBytes64(ne.Uint64(b)))
		ne.PutUint64(b[8:], bits.ReverseBytes64(ne.Uint64(b[8:])))
		ne.PutUint64(b[16:], bits.ReverseBytes64(ne.Uint64(b[16:])))
		ne.PutUint64(b[24:], bits.ReverseBytes64(ne.Uint64(b[24:])))
	}
	return b
}

// unshuffle inverts HDF5's shuffle filter (H5Zshuffle.c: all first bytes, then all second bytes, ...) for the
// values [first, first+len(dst)/size) of data only, and writes each with its bytes reversed if swap is set.
func unshuffle(dst, data []byte, size, first int, swap bool) {
	total, n := len(data)/size, len(dst)/size
	var plane [8][]byte
	for j := range size {
		to := j
		if swap {
			to = size - 1 - j
		}
		plane[to] = data[j*total+first:][:n]
	}
	switch size {
	case 1:
		copy(dst, plane[0])
	case 2:
		unshuffle2(dst, plane[0], plane[1])
	case 4:
		unshuffle4(dst, plane[0], plane[1], plane[2], plane[3])
	case 8:
		unshuffle8(dst, &plane)
	}
}

// The planes are transposed eight values at a time: exchange swaps what stands off the diagonal, first single bytes, then pairs of them, then
// pairs of those.

const (
	bytes1 = 0x00ff00ff00ff00ff
	bytes2 = 0x0000ffff0000ffff
	bytes4 = 0x00000000ffffffff
)

// exchange swaps the parts of a that mask, moved up by shift bits, covers with those of b that it covers.
func exchange(a, b, mask uint64, shift uint) (uint64, uint64) {
	t := (a>>shift ^ b) & mask
	return a ^ t<<shift, b ^ t
}

func unshuffle2(dst, p0, p1 []byte) {
	le := binary.LittleEndian
	for ; len(p0) >= 8 && len(p1) >= 8 && len(dst) >= 16; p0, p1, dst = p0[8:], p1[8:], dst[16:] {
		a, b := exchange(le.Uint64(p0), le.Uint64(p1), bytes1, 8)
		a, b = exchange(a, b, bytes2, 16)
		a, b = exchange(a, b, bytes4, 32)
		le.PutUint64(dst, a)
		le.PutUint64(dst[8:], b)
	}
	for i, v := range p0 {
		dst[2*i], dst[2*i+1] = v, p1[i]
	}
}

func unshuffle4(dst, p0, p1, p2, p3 []byte) {
	le := binary.LittleEndian
	for ; len(p0) >= 8 && len(p1) >= 8 && len(p2) >= 8 && len(p3) >= 8 && len(dst) >= 32; dst = dst[32:] {
		a, b := exchange(le.Uint64(p0), le.Uint64(p1), bytes1, 8)
		c, d := exchange(le.Uint64(p2), le.Uint64(p3), bytes1, 8)
		a, c = exchange(a, c, bytes2, 16)
		b, d = exchange(b, d, bytes2, 16)
		a, b = exchange(a, b, bytes4, 32)
		c, d = exchange(c, d, bytes4, 32)
		le.PutUint64(dst, a)
		le.PutUint64(dst[8:], c)
		le.PutUint64(dst[16:], b)
		le.PutUint64(dst[24:], d)
		p0, p1, p2, p3 = p0[8:], p1[8:], p2[8:], p3[8:]
	}
	for i, v := range p0 {
		dst[4*i], dst[4*i+1], dst[4*i+2], dst[4*i+3] = v, p1[i], p2[i], p3[i]
	}
}

func unshuffle8(dst []byte, p *[8][]byte) {
	le := binary.LittleEndian
	n := len(p[0])
	p0, p1, p2, p3, p4, p5, p6, p7 := p[0], p[1][:n], p[2][:n], p[3][:n], p[4][:n], p[5][:n], p[6][:n], p[7][:n]
	i := 0
	for ; i+8 <= n; i += 8 {
		a, b := exchange(le.Uint64(p0[i:]), le.Uint64(p1[i:]), bytes1, 8)
		c, d := exchange(le.Uint64(p2[i:]), le.Uint64(p3[i:]), bytes1, 8)
		e, f := exchange(le.Uint64(p4[i:]), le.Uint64(p5[i:]), bytes1, 8)
		g, h := exchange(le.Uint64(p6[i:]), le.Uint64(p7[i:]), bytes1, 8)
		a, c = exchange(a, c, bytes2, 16)
		b, d = exchange(b, d, bytes2, 16)
		e, g = exchange(e, g, bytes2, 16)
		f, h = exchange(f, h, bytes2, 16)
		a, e = exchange(a, e, bytes4, 32)
		b, f = exchange(b, f, bytes4, 32)
		c, g = exchange(c, g, bytes4, 32)
		d, h = exchange(d, h, bytes4, 32)
		out := dst[8*i:][:64]
		le.PutUint64(out, a)
		le.PutUint64(out[8:], b)
		le.PutUint64(out[16:], c)
		le.PutUint64(out[24:], d)
		le.PutUint64(out[32:], e)
		le.PutUint64(out[40:], f)
		le.PutUint64(out[48:], g)
		le.PutUint64(out[56:], h)
	}
	for ; i < n; i++ {
		for j := range p {
			dst[8*i+j] = p[j][i]
		}
	}
}
