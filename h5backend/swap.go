package h5backend

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// swapOrder reverses the bytes of every value of size bytes in b, in place, eight bytes at a time.
func swapOrder(b []byte, size int) {
	ne := binary.NativeEndian
	const low = 0x00ff00ff00ff00ff
	switch size {
	case 2:
		for ; len(b) >= 8; b = b[8:] {
			v := ne.Uint64(b)
			ne.PutUint64(b, v>>8&low|v&low<<8)
		}
	case 4:
		for ; len(b) >= 8; b = b[8:] {
			ne.PutUint64(b, bits.RotateLeft64(bits.ReverseBytes64(ne.Uint64(b)), 32))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			ne.PutUint64(b, bits.ReverseBytes64(ne.Uint64(b)))
		}
	}
	for ; size > 1 && len(b) >= size; b = b[size:] {
		slices.Reverse(b[:size])
	}
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

func unshuffle2(dst, p0, p1 []byte) {
	le := binary.LittleEndian
	for ; len(p0) >= 4; p0, p1, dst = p0[4:], p1[4:], dst[8:] {
		le.PutUint64(dst, spread(le.Uint32(p0))|spread(le.Uint32(p1))<<8)
	}
	for i, v := range p0 {
		dst[2*i], dst[2*i+1] = v, p1[i]
	}
}

// spread puts a zero byte above each byte of v.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	return (x | x<<8) & 0x00ff00ff00ff00ff
}

func unshuffle4(dst, p0, p1, p2, p3 []byte) {
	n := len(p0)
	p1, p2, p3 = p1[:n], p2[:n], p3[:n]
	for i, v := range p0 {
		binary.LittleEndian.PutUint32(dst[4*i:], uint32(v)|uint32(p1[i])<<8|uint32(p2[i])<<16|uint32(p3[i])<<24)
	}
}

func unshuffle8(dst []byte, p *[8][]byte) {
	n := len(p[0])
	p0, p1, p2, p3, p4, p5, p6, p7 := p[0], p[1][:n], p[2][:n], p[3][:n], p[4][:n], p[5][:n], p[6][:n], p[7][:n]
	for i, v := range p0 {
		low := uint32(v) | uint32(p1[i])<<8 | uint32(p2[i])<<16 | uint32(p3[i])<<24
		high := uint32(p4[i]) | uint32(p5[i])<<8 | uint32(p6[i])<<16 | uint32(p7[i])<<24
		binary.LittleEndian.PutUint64(dst[8*i:], uint64(low)|uint64(high)<<32)
	}
}
