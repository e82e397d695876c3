package h5backend

// scratch is the memory of one running read. A Reader has as many as its depth.
type scratch struct {
	stored, decoded []byte
	inflate         *inflater
	bufs            [][]byte // for preadv
}

func (s *scratch) storedBytes(n int) []byte  { return grown(&s.stored, n) }
func (s *scratch) decodedBytes(n int) []byte { return grown(&s.decoded, n) }

func grown(b *[]byte, n int) []byte {
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	return (*b)[:n]
}

func (s *scratch) inflater() *inflater {
	if s.inflate == nil {
		s.inflate = newInflater()
	}
	return s.inflate
}
