package h5backend

import "encoding/binary"

// fletcher32 is H5_checksum_fletcher32 (H5checksum.c): over big-endian 16-bit words, a last odd byte being the high one.
//
// The words go in fours, w0 to w3, in two lanes of each of two numbers; s has the sums of the lanes, t the sums of s. Of K fours, the
// checksum's second sum has the j-th word of the k-th 4(K-k)-j times: four times what t has, less j times what s has.
func fletcher32(b []byte) uint32 {
	var s1, s2 uint64
	const lanes, fours = 0x0000ffff0000ffff, 256 // 361 would be too many for a lane of t
	for len(b) >= 8 {
		n := min(len(b)/8, fours)
		var sEven, sOdd, tEven, tOdd uint64
		for block := b[:8*n]; len(block) >= 8; block = block[8:] {
			v := binary.BigEndian.Uint64(block)
			sEven += v >> 16 & lanes
			sOdd += v & lanes
			tEven += sEven
			tOdd += sOdd
		}
		b = b[8*n:]
		w0, w1, w2, w3 := sEven>>32, sOdd>>32, sEven&0xffffffff, sOdd&0xffffffff
		t := tEven>>32 + tOdd>>32 + tEven&0xffffffff + tOdd&0xffffffff
		s2 = fold(s2 + 4*uint64(n)*s1 + 4*t - w1 - 2*w2 - 3*w3)
		s1 = fold(s1 + w0 + w1 + w2 + w3)
	}
	for ; len(b) >= 2; b = b[2:] {
		s1 += uint64(binary.BigEndian.Uint16(b))
		s2 += s1
	}
	if len(b) == 1 {
		s1 += uint64(b[0]) << 8
		s2 += s1
	}
	return uint32(fold(s2)<<16 | fold(s1))
}

// fold is x modulo 65535, where only zero gives zero.
func fold(x uint64) uint64 {
	for x > 0xffff {
		x = x&0xffff + x>>16
	}
	return x
}
