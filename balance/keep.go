package balance

// keep lets samples that node k just processed into its buffer, as far as there is room: those first whose next
// use falls on the step for which the node has fewest so far, then by position; a sample whose step is full already would be no
// hit and is left out. Samples that the next epoch does not use come last, and give way
// to others later.
func (s *State) keep(k int, batch []uint32) {
	due := s.due[s.dealt.Starts[k]:][:s.regular[k]]
	free := s.shape.Buffer - s.held[k]
	if free > 0 || len(s.idle[k]) > 0 {
		s.keepDue(k, batch, due, free)
	}
	s.leave(k, batch, due)
}

func (s *State) keepDue(k int, batch, due []uint32, free int) {
	index := s.index[s.dealt.Starts[k]:][:len(due)]
	preferred, leftOut := s.candidates(k, index, due, free < len(due))
	for _, j := range preferred {
		i, step := index[j], due[j]
		if s.others(k, i, step) >= s.most(step) { // filled by another sample of this same batch
			leftOut++
			continue
		}
		if free == 0 && !s.giveWay(k) {
			return
		}
		free = max(free-1, 0)
		s.enter(k, i, batch[i], step)
	}
	s.dealt.LeftOut += min(free, leftOut)
	for j := 0; j < len(due) && free > 0 && s.more; j++ {
		if due[j] == s.places.never {
			s.enter(k, index[j], batch[index[j]], due[j])
			s.idle[k] = append(s.idle[k], batch[index[j]])
			free--
		}
	}
}

// leave lets go of the hits that do not stay.
func (s *State) leave(k int, batch, due []uint32) {
	for j, i := range s.index[s.dealt.Starts[k]:][:len(due)] {
		if s.fates[i] == 0 {
			s.lose(batch[i], due[j], k)
		}
	}
}

// lose notes that node k does not hold a sample any more, which the next epoch uses at step next.
func (s *State) lose(sample, next uint32, k int) {
	s.places.set(sample, next, s.places.nobody)
	s.plan(sample, next, k, -1)
}

// enter lets the sample at position i, which the next epoch uses at step next, into the buffer of node k.
func (s *State) enter(k int, i, sample, next uint32) {
	s.held[k]++
	if s.fates[i] == Load {
		s.places.set(sample, next, uint32(k))
		s.plan(sample, next, k, 1)
	}
	s.fates[i] |= Keep
}

// others counts the samples, beside the one at position i, that node k has planned for the step that needs it next.
func (s *State) others(k int, i, step uint32) int {
	hit := int(s.fates[i] ^ Load)
	return int(s.planned[int(step)*s.shape.Nodes+k]) - hit
}

// giveWay makes room in the buffer of node k by dropping an idle sample; false if there is none.
func (s *State) giveWay(k int) bool {
	n := len(s.idle[k]) - 1
	if n < 0 {
		return false
	}
	sample := s.idle[k][n]
	s.idle[k] = s.idle[k][:n]
	s.held[k]--
	s.lose(sample, s.places.never, k)
	s.dealt.Drops = append(s.dealt.Drops, Moved{Node: uint16(k), Sample: sample})
	return true
}

// candidates lists the indices into due, and into the positions index, of samples that are worth keeping, in order of preference if the
// order matters, and counts those whose next step is full: the node has a hit for each other sample that it may process there.
func (s *State) candidates(k int, index, due []uint32, ordered bool) (preferred []uint32, full int) {
	p, never, tail := &s.pick, s.places.never, uint32(s.shape.Steps-1)
	list, keys, n := p.index[:len(due)], p.key[:len(due)], 0
	for j, step := range due {
		if step == never {
			continue
		}
		planned, most := s.others(k, index[j], step), s.mostFull
		share := planned
		if step == tail {
			most = s.mostTail
			share = planned * s.mostFull / most // of a short step the same share counts the same
		}
		if planned >= most {
			full++
			continue
		}
		list[n], keys[n] = uint32(j), uint32(share)
		n++
	}
	if !ordered {
		return list[:n], full
	}
	return p.sorted(n), full
}

// pick orders indices by a small key, stably, by counting.
type pick struct {
	index, key, out []uint32
	count           []uint32 // by key
}

// newPick is for up to most indices and keys below most.
func newPick(most int) pick {
	return pick{index: make([]uint32, most), key: make([]uint32, most), out: make([]uint32, most), count: make([]uint32, most)}
}

// sorted returns the first n indices by key.
func (p *pick) sorted(n int) []uint32 {
	clear(p.count)
	keys, out := p.key[:n], p.out[:n]
	for _, key := range keys {
		p.count[key]++
	}
	at := uint32(0)
	for key, n := range p.count {
		p.count[key] = at
		at += n
	}
	for j, key := range keys {
		out[p.count[key]] = p.index[j]
		p.count[key]++
	}
	return out
}
