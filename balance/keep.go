package balance

// keep lets samples that node k just processed into its buffer, as far as there is room: those first whose next
// use falls on the step for which the node has fewest so far, then by position; a sample whose step is full already would be no
// hit and is left out. Samples that the next epoch does not use come last, and give way
// to others later.
func (s *State) keep(k int) {
	from := s.dealt.Starts[k]
	due := s.due[from:][:s.regular[k]]
	free := s.shape.Buffer - s.held[k]
	if free > 0 || len(s.idle[k]) > 0 {
		s.keepDue(k, due, free)
	}
	s.unplan(k, len(due))
}

func (s *State) keepDue(k int, due []uint32, free int) {
	from := s.dealt.Starts[k]
	indices, leftOut := s.candidates(k, due, free < len(due))
	for _, i := range indices {
		if s.full(k, from+int(i)) { // filled by another sample of this same batch
			leftOut++
			continue
		}
		if free == 0 && !s.giveWay(k) {
			return
		}
		free = max(free-1, 0)
		s.enter(k, from+int(i))
	}
	s.dealt.LeftOut += min(free, leftOut)
	for i := 0; i < len(due) && free > 0 && s.more; i++ {
		if due[i] == never {
			s.enter(k, from+i)
			s.idle[k] = append(s.idle[k], s.dealt.Samples[from+i])
			free--
		}
	}
}

// unplan takes out the hits that do not stay.
func (s *State) unplan(k, regular int) {
	samples, fates := s.dealt.Node(k)
	for i, sample := range samples[:regular] {
		if fates[i] == 0 {
			s.plan(sample, k, -1)
		}
	}
}

func (s *State) enter(k, at int) {
	sample := s.dealt.Samples[at]
	s.owner[sample] = uint16(k)
	s.held[k]++
	if s.dealt.Fates[at] == Load { // a hit is counted already
		s.plan(sample, k, 1)
	}
	s.dealt.Fates[at] |= Keep
}

// others counts the samples, beside the one at that place of dealt, that node k has planned for the step that needs it next.
func (s *State) others(k, at int) int {
	n := int(s.ahead[0].planned[int(s.due[at])*s.shape.Nodes+k])
	if s.dealt.Fates[at]&Load == 0 {
		n--
	}
	return n
}

// full reports whether node k has a hit for each other sample that it may process in the step that needs the one at that place of dealt next.
func (s *State) full(k, at int) bool { return s.others(k, at) >= s.most(s.due[at]) }

// giveWay makes room in the buffer of node k by dropping an idle sample; false if there is none.
func (s *State) giveWay(k int) bool {
	n := len(s.idle[k]) - 1
	if n < 0 {
		return false
	}
	sample := s.idle[k][n]
	s.idle[k] = s.idle[k][:n]
	s.owner[sample] = nobody
	s.held[k]--
	s.plan(sample, k, -1)
	s.dealt.Drops = append(s.dealt.Drops, Moved{Node: uint16(k), Sample: sample})
	return true
}

// candidates lists the indices into due of samples that are worth keeping, in order of preference if the order
// matters, and counts those whose next step is full.
func (s *State) candidates(k int, due []uint32, ordered bool) (indices []uint32, full int) {
	p, from := &s.pick, s.dealt.Starts[k]
	p.reset()
	for i, step := range due {
		if step == never {
			continue
		}
		n, most := s.others(k, from+i), s.most(step)
		if n >= most {
			full++
			continue
		}
		p.add(uint32(i), uint32(n*s.mostFull/most)) // of a short step the same share counts the same
	}
	if !ordered {
		return p.index, full
	}
	return p.sorted(), full
}

// pick orders indices by a small key, stably, by counting.
type pick struct {
	index, key, out []uint32
	count           []uint32 // by key, all zero between uses
	low, high       uint32   // keys seen
}

// newPick is for up to most indices and keys below most.
func newPick(most int) pick {
	return pick{index: make([]uint32, 0, most), key: make([]uint32, 0, most), out: make([]uint32, most), count: make([]uint32, most)}
}

func (p *pick) reset() {
	p.index, p.key = p.index[:0], p.key[:0]
	p.low, p.high = 1<<32-1, 0
}

func (p *pick) add(i, key uint32) {
	p.index, p.key = append(p.index, i), append(p.key, key)
	p.low, p.high = min(p.low, key), max(p.high, key)
}

func (p *pick) sorted() []uint32 {
	if len(p.index) == 0 {
		return nil
	}
	for _, key := range p.key {
		p.count[key]++
	}
	at := uint32(0)
	for key := p.low; key <= p.high; key++ {
		n := p.count[key]
		p.count[key] = at
		at += n
	}
	for j, key := range p.key {
		p.out[p.count[key]] = p.index[j]
		p.count[key]++
	}
	clear(p.count[p.low : p.high+1])
	return p.out[:at]
}
