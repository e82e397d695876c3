package h5backend

// offset is where a row stands in the file as it is, if it does.
func (p *part) offset(row int) (uint64, bool) {
	if p.way == wayLib {
		return 0, false
	}
	if p.chunks == nil {
		return p.start + uint64(row)*uint64(p.bytes), true
	}
	c := p.chunks[row/p.chunkRows]
	if !p.pipe.raw(c.mask) {
		return 0, false
	}
	return c.off + uint64(row%p.chunkRows)*uint64(p.bytes), true
}

func (p *part) toNative(b []byte) {
	if p.swap {
		swapOrder(b, p.elem)
	}
}

// loadChunk reads and decodes a filtered chunk. The result lies in s.
func (p *part) loadChunk(s *scratch, chunk int, read func(dst []byte, off uint64) error) (data []byte, shuffled bool, err error) {
	c := p.chunks[chunk]
	stored := s.storedBytes(int(c.size))
	if err := read(stored, c.off); err != nil {
		return nil, false, err
	}
	return p.pipe.decode(s, stored, c.mask)
}

// extract copies one row of a decoded chunk to dst in native byte order.
func (p *part) extract(dst, data []byte, row int, shuffled bool) {
	if shuffled {
		unshuffle(dst, data, p.elem, row*(p.bytes/p.elem), p.swap)
		return
	}
	copy(dst, data[row*p.bytes:])
	p.toNative(dst)
}
