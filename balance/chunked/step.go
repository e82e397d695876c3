package chunked

import (
	"cmp"
	"slices"

	"solarfs/balance"
)

// Step deals the next global batch as balance.State.Step does. Misses of one chunk go to one node as far as it has slots free: the
// one that can hold most of the chunk's coming uses.
func (s *State) Step(batch []uint32, regular int) *balance.Dealt {
	slots := len(batch) / s.shape.Nodes
	d := &s.dealt
	d.Drops, d.Riders, s.entered, s.misses = d.Drops[:0], d.Riders[:0], s.entered[:0], s.misses[:0]
	s.claim(batch, regular)
	s.shape.Share(s.fill, slots, s.size)
	s.release(batch)
	for k, hits := range s.fill {
		d.Loads[k] = s.size[k] - hits
	}
	slices.SortFunc(s.misses, func(a, b miss) int {
		return cmp.Or(cmp.Compare(a.chunk, b.chunk), cmp.Compare(a.position, b.position))
	})
	for from, to := 0, 0; from < len(s.misses); from = to {
		for to < len(s.misses) && s.misses[to].chunk == s.misses[from].chunk {
			to++
		}
		s.read(batch, regular, s.misses[from:to])
	}
	s.keepHits(batch)
	s.settle()
	s.place(batch)
	s.step++
	return d
}

// claim gives each hit to its holder and lists the misses. What is claimed has left its buffer.
func (s *State) claim(batch []uint32, regular int) {
	clear(s.fill)
	now := s.now()
	for i, sample := range batch {
		k := s.owner[sample]
		if i >= regular || k == nobody {
			s.who[i], s.fates[i] = nobody, balance.Load
			s.misses = append(s.misses, miss{uint32(int(sample) / s.chunk), uint32(i)})
			continue
		}
		s.held.remove(int(k), sample, now)
		s.owner[sample] = nobody
		s.who[i], s.fates[i] = k, 0
		s.fill[k]++
	}
}

// read finds nodes for the misses of one chunk, and lets in what they keep of it.
func (s *State) read(batch []uint32, regular int, misses []miss) {
	s.gather(misses[0].chunk)
	for len(misses) > 0 {
		k := s.reader(len(misses), int(misses[0].position)*s.shape.Nodes/len(batch))
		n := min(len(misses), s.size[k]-s.fill[k])
		for _, m := range misses[:n] {
			s.who[m.position] = uint16(k)
		}
		s.fill[k] += n
		s.ride(k, batch, regular, misses[:n])
		s.takeOver(k)
		misses = misses[n:]
	}
}

// reader chooses the node that reads a chunk for n misses: the one whose part they stand in where that is given; else one that has slots free for all of them, if there is any; then the one that
// holds least for the times at which the siblings are needed; then the one with most slots free; then the lower.
func (s *State) reader(n, part int) int {
	if s.inPlace && s.fill[part] < s.size[part] {
		return part
	}
	clear(s.crowd)
	for _, sib := range s.siblings {
		for k, planned := range s.held.row(sib.time) {
			s.crowd[k] += int(planned)
		}
	}
	best, bestKey := -1, [3]int{}
	for k := range s.fill {
		free := s.size[k] - s.fill[k]
		if free == 0 {
			continue
		}
		if key := [3]int{min(free, n), -s.crowd[k], free}; best < 0 || slices.Compare(key[:], bestKey[:]) > 0 {
			best, bestKey = k, key
		}
	}
	return best
}

// release takes from each node the hits beyond its size, as uneven batches may demand. They leave its buffer and are misses.
func (s *State) release(batch []uint32) {
	for k := range s.fill {
		for i := len(batch) - 1; s.fill[k] > s.size[k]; i-- {
			if int(s.who[i]) != k {
				continue
			}
			s.dealt.Drops = append(s.dealt.Drops, balance.Moved{Node: uint16(k), Sample: batch[i]})
			s.who[i], s.fates[i] = nobody, balance.Load
			s.misses = append(s.misses, miss{uint32(int(batch[i]) / s.chunk), uint32(i)})
			s.fill[k]--
		}
	}
}

// keepHits keeps hits whose chunk is not read sooner for a sibling anyhow. Where all fits, no chunk need be read again: a sibling that no
// buffer holds at this moment may be a hit of this batch that is kept, too.
func (s *State) keepHits(batch []uint32) {
	if s.last {
		return
	}
	for i, sample := range batch {
		if s.fates[i] != 0 {
			continue
		}
		k := int(s.who[i])
		if time, ok := s.due(sample); ok && s.held.room(k, time) && (s.allFit() || !s.readBefore(sample, time)) {
			s.enter(k, sample, time, i)
		}
	}
}

// place writes samples by node, each node's in the order of the global batch.
func (s *State) place(batch []uint32) {
	d, from := &s.dealt, 0
	for k, n := range s.size {
		d.Starts[k], s.cursor[k] = from, from
		from += n
	}
	d.Starts[s.shape.Nodes] = from
	d.Samples, d.Fates = d.Samples[:len(batch)], d.Fates[:len(batch)]
	for i, sample := range batch {
		k := s.who[i]
		d.Samples[s.cursor[k]], d.Fates[s.cursor[k]] = sample, s.fates[i]
		s.cursor[k]++
	}
}
