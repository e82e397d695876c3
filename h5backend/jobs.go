package h5backend

import "cmp"

// piece is one request with its place.
type piece struct {
	how  way
	file int // index in the Set
	part *part
	row  int
	at   uint64 // offset in the file of what is read: the sample, or its chunk; a row where libhdf5 reads
	size int    // bytes there
	req  *Request
}

func (p *piece) fail(err error) { p.req.Err = p.part.failure(p.req.Sample, p.row, err) }

// again tells whether p is read with the piece before it: the same sample, or one of the same chunk.
func (p *piece) again(before *piece) bool {
	return p.at == before.at && p.part == before.part
}

// place says how the piece is read and from where: a chunk that is stored as it is, directly.
func (p *piece) place() {
	p.at, p.size = uint64(p.row), p.part.bytes
	if p.part.way == wayLib {
		p.how = wayLib
		return
	}
	if off, ok := p.part.offset(p.row); ok {
		p.how, p.at = wayDirect, off
		return
	}
	c := &p.part.chunks[p.row/p.part.chunkRows]
	p.how, p.at, p.size = wayDecode, c.off, int(c.size)
}

// inOrder is the order by place in the files; neighbours of several fields mix. What libhdf5 reads is ordered by field.
func inOrder(a, b *piece) int {
	switch {
	case a.how != b.how:
		return cmp.Compare(a.how, b.how)
	case a.file != b.file:
		return cmp.Compare(a.file, b.file)
	case a.part != b.part && (a.how == wayLib || a.at == b.at):
		return cmp.Compare(a.req.Field, b.req.Field)
	case a.at != b.at:
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Compare(a.row, b.row)
}

// maxRun bounds one storage read of several samples or chunks, with what lies between: network file systems cut reads
// at a megabyte anyway, from memory four times as much is no faster, and smaller ones spread over the Reader's depth.
const maxRun = 1 << 20

// maxDecode bounds the memory of a read of several stored chunks: all of them and a decoded one. Half a megabyte a request is
// enough for storage of 500 requests and 200 MB a second, and each of the reads under way takes it.
const maxDecode = 512 << 10

// longest is how many bytes of the file may be read together with the piece.
func (p *piece) longest() uint64 {
	if p.how == wayDecode {
		return uint64(p.part.file.decodeRun)
	}
	return maxRun
}

// run is how many of the pieces are read together: repeats, and neighbours with gaps of at most gap bytes between them.
func run(pieces []piece, gap int64) int {
	first, last := &pieces[0], &pieces[0]
	buffers, most := 1, first.longest()
	for i := 1; i < len(pieces); i++ {
		next := &pieces[i]
		if next.how != first.how || next.file != first.file {
			return i
		}
		if next.again(last) {
			continue
		}
		if first.how == wayLib {
			if next.part != first.part {
				return i
			}
			continue
		}
		end := last.at + uint64(last.size)
		between := int64(next.at - end)
		if next.at < end || between > gap || next.at+uint64(next.size)-first.at > most {
			return i
		}
		if buffers += 1 + skips(int(between)); buffers > maxBuffers {
			return i
		}
		last = next
	}
	return len(pieces)
}
