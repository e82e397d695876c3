package h5backend

// Chunk indexes of layout message version 4.
const (
	indexSingle   = 1
	indexImplicit = 2
	indexFixed    = 3
)

const classChunked = 2

// parseLayout reads the layout message of a chunked dataset
// (HDF5 File Format Specification 3.0, IV.A.2.i), versions 3 and 4.
func parseLayout(b block) (chunkIndex, error) {
	if !b.has(0, 5) {
		return chunkIndex{}, errIndex
	}
	switch b[0] {
	case 3:
		return layoutV3(b)
	case 4, 5:
		return layoutV4(b)
	}
	return chunkIndex{}, errIndex
}

func layoutV3(b block) (x chunkIndex, err error) {
	n := int(b[2])
	if b[1] != classChunked || !b.has(3, 8+4*n) {
		return x, errIndex
	}
	x = chunkIndex{kind: "B-tree v1", btree: true, address: b.u64(3)}
	for i := range n {
		x.dims = append(x.dims, b.uint(11+4*i, 4))
	}
	return x, nil
}

func layoutV4(b block) (x chunkIndex, err error) {
	flags, n, width := b[2], int(b[3]), int(b[4])
	p := 5 + n*width
	if b[1] != classChunked || width < 1 || width > 8 || !b.has(p, 1) {
		return x, errIndex
	}
	for i := range n {
		x.dims = append(x.dims, b.uint(5+i*width, width))
	}
	x.number = b[p]
	p++
	switch x.number {
	case indexSingle:
		x.kind = "single chunk"
		if flags&2 != 0 {
			if !b.has(p, 12) {
				return x, errIndex
			}
			x.filtered, x.singleSize, x.singleMask = true, b.u64(p), uint32(b.uint(p+8, 4))
			p += 12
		}
	case indexImplicit:
		x.kind = "implicit"
	case indexFixed:
		x.kind = "fixed array"
		p++ // page bits; the array's header repeats them
	case 4:
		x.kind = "extensible array"
		return x, nil
	case 5:
		x.kind = "B-tree v2"
		return x, nil
	default:
		return x, errIndex
	}
	if !b.has(p, 8) {
		return x, errIndex
	}
	x.address = b.u64(p)
	return x, nil
}
