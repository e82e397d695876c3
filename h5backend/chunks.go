package h5backend

import "sync"

// stored is one chunk of a run: its pieces, and its bytes in the slot's scratch.
type stored struct {
	pieces []piece
	bytes  []byte
}

// decode reads neighbouring chunks and decodes them. A chunk that cannot be decoded is read again by itself, and all are if the
// read fails, so that only those fail whose own bytes are bad.
func (r *reading) decode() {
	chunks := r.chunks()
	defer clear(chunks) // no destination is kept alive
	var err error
	if len(chunks) > 1 {
		next := 0
		err = r.together(func(*piece) []byte { next++; return chunks[next-1].bytes })
	}
	if len(chunks) == 1 || err != nil {
		for _, c := range chunks {
			r.decodeAlone(c)
		}
		return
	}
	for _, c := range r.decodeAll(chunks) {
		r.reader.set.stats.retries.Add(1)
		r.decodeAlone(c)
	}
}

// chunks lays the run's chunks out in the slot's scratch.
func (r *reading) chunks() []stored {
	out := r.slot.chunks[:0]
	total, begin := 0, 0
	for i := range r.pieces {
		if i == 0 || !r.pieces[i].again(&r.pieces[i-1]) {
			total += r.pieces[i].size
		}
	}
	bytes := r.slot.storedBytes(total)
	for i := 1; i <= len(r.pieces); i++ {
		if i == len(r.pieces) || !r.pieces[i].again(&r.pieces[i-1]) {
			size := r.pieces[begin].size
			out = append(out, stored{r.pieces[begin:i], bytes[:size]})
			bytes, begin = bytes[size:], i
		}
	}
	r.slot.chunks = out
	return out
}

// leastShare is how many stored bytes make decoding by another goroutine worth while.
const leastShare = 32 << 10

// decodeAll decodes the chunks on several processors, and gives those that are corrupt.
func (r *reading) decodeAll(chunks []stored) (bad []stored) {
	bytes := 0
	for _, c := range chunks {
		bytes += len(c.bytes)
	}
	shares := max(1, min(len(chunks), bytes/leastShare, cap(r.reader.decoders)))
	failed := make([][]stored, shares)
	var running sync.WaitGroup
	for i := range shares {
		share := chunks[i*len(chunks)/shares : (i+1)*len(chunks)/shares]
		if i == shares-1 {
			failed[i] = r.decodeShare(share)
		} else {
			running.Go(func() { failed[i] = r.decodeShare(share) })
		}
	}
	running.Wait()
	for _, f := range failed {
		bad = append(bad, f...)
	}
	return bad
}

func (r *reading) decodeShare(chunks []stored) (bad []stored) {
	d := <-r.reader.decoders
	defer func() { r.reader.decoders <- d }()
	for _, c := range chunks {
		if c.pieces[0].part.decode(d, c) != nil {
			bad = append(bad, c)
		}
	}
	return bad
}

// decodeAlone reads and decodes one chunk, with retries.
func (r *reading) decodeAlone(c stored) {
	p := &c.pieces[0]
	err := r.again(p.part.file, func() error {
		r.slot.bufs = append(r.slot.bufs[:0], c.bytes)
		if err := r.read(p.part.file, p.at, p.size); err != nil {
			return err
		}
		d := <-r.reader.decoders
		defer func() { r.reader.decoders <- d }()
		return p.part.decode(d, c)
	})
	if err != nil {
		failAll(c.pieces, err)
	}
}
