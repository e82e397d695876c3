package batchfile

// Layout is the shape of one batch file in bytes: Header, then Rows rows of
// RowBytes each. Row i holds one sample's value of the file's field.
type Layout struct {
	Header   []byte
	RowBytes int
	Rows     int
}

// Size is the file's size in bytes.
func (l Layout) Size() int64 {
	return int64(len(l.Header)) + int64(l.Rows)*int64(l.RowBytes)
}

// RowOffset is where row i begins, in bytes from the start of the file.
func (l Layout) RowOffset(i int) int64 {
	return int64(len(l.Header)) + int64(i)*int64(l.RowBytes)
}

// Part is a run of bytes inside one row: [From, To) of row Row.
type Part struct {
	Row, From, To int
}

// Cut splits the file's byte range [off, off+n) into the bytes of the header
// that fall in it and the parts of rows behind them. The range is clipped to
// the file.
func (l Layout) Cut(off int64, n int) (header []byte, parts []Part) {
	end := min(off+int64(n), l.Size())
	if h := int64(len(l.Header)); off < h && off < end {
		header = l.Header[off:min(end, h)]
		off += int64(len(header))
	}
	for off < end {
		row := int((off - int64(len(l.Header))) / int64(l.RowBytes))
		from := int(off - l.RowOffset(row))
		to := int(min(int64(l.RowBytes), end-l.RowOffset(row)))
		parts = append(parts, Part{Row: row, From: from, To: to})
		off += int64(to - from)
	}
	return header, parts
}
