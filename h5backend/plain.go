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

// decode decodes a filtered chunk and writes the rows that its pieces ask for, in native byte order.
func (p *part) decode(d *decoder, c stored) error {
	mask := p.chunks[c.pieces[0].row/p.chunkRows].mask
	var whole []byte // where the decoded chunk is wanted as it is
	if p.chunkRows == 1 && !p.pipe.shuffled(mask) {
		whole = c.pieces[0].req.Dst
	}
	data, err := p.pipe.decode(d, whole, c.bytes, mask)
	if err != nil {
		return err
	}
	for i := range c.pieces {
		one := &c.pieces[i]
		switch dst := one.req.Dst; {
		case i > 0 && one.row == c.pieces[i-1].row:
			copy(dst, c.pieces[i-1].req.Dst)
		case &data[0] == &dst[0]:
			p.toNative(dst)
		default:
			p.extract(dst, data, one.row%p.chunkRows, p.pipe.shuffled(mask))
		}
	}
	return nil
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
