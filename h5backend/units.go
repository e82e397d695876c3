package h5backend

// Unit is the least that is read of a field at once: a sample, or a chunk that must be decoded whole.
type Unit struct {
	Samples int
	Bytes   int64 // as stored, the mean over all files
}

// Units gives the unit of each field. Where libhdf5 reads chunks, their stored size is not known and taken to be their size in memory.
func (s *Set) Units() []Unit {
	out := make([]Unit, len(s.fields))
	for i := range out {
		u, count, bytes := &out[i], int64(0), int64(0)
		u.Samples = 1
		for _, f := range s.files {
			p := f.parts[i]
			rows, n, stored := p.unit()
			u.Samples = max(u.Samples, min(rows, p.rows))
			count += n
			bytes += stored
		}
		u.Bytes = max(1, bytes/max(1, count))
	}
	return out
}

// unit is how many rows a unit of the part has, how many units there are and how many bytes all of them.
func (p *part) unit() (rows int, count, bytes int64) {
	all := int64(p.rows) * int64(p.bytes)
	if p.way == wayDirect || p.chunkRows <= 1 && p.chunks == nil {
		return 1, int64(p.rows), all
	}
	if p.chunks == nil {
		return p.chunkRows, int64((p.rows + p.chunkRows - 1) / p.chunkRows), all
	}
	for _, c := range p.chunks {
		bytes += int64(c.size)
	}
	return p.chunkRows, int64(len(p.chunks)), bytes
}
