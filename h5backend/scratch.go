package h5backend

// scratch is the memory of one running read.
type scratch struct {
	stored []byte   // chunks as they are stored
	junk   []byte   // what is read over gaps, again and again
	bufs   [][]byte // for preadv
	chunks []stored
}

// junkBytes is small, so that what nobody needs stays in the processor's cache.
const junkBytes = 16 << 10

func (s *scratch) storedBytes(n int) []byte { return grown(&s.stored, n) }

func grown(b *[]byte, n int) []byte {
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	return (*b)[:n]
}

// skip lets the next read go over n bytes.
func (s *scratch) skip(n int) {
	for ; n > 0; n -= junkBytes {
		s.bufs = append(s.bufs, grown(&s.junk, junkBytes)[:min(n, junkBytes)])
	}
}

// skips is how many buffers skip takes.
func skips(n int) int { return (n + junkBytes - 1) / junkBytes }

// decoder decodes one chunk at a time. A Reader has one for each processor, at most as many as its depth.
type decoder struct {
	decoded []byte
	inflate *inflater
}

func (d *decoder) decodedBytes(n int) []byte { return grown(&d.decoded, n) }

func (d *decoder) inflater() *inflater {
	if d.inflate == nil {
		d.inflate = newInflater()
	}
	return d.inflate
}
