package balance

// keep lets samples that node k just processed into its buffer, as far as there is room: those first whose next
// use falls on the step for which the node has fewest so far, then by position; a sample whose step is full already would be no
// hit and is left out. Samples that the next epoch does not use come last, and give way
// to others later.
func (s *State) keep(k, slots int) {
	from := k * slots
	due := s.due[from:][:s.regular[k]]
	free := s.shape.Buffer - s.held[k]
	if free == 0 && len(s.idle[k]) == 0 {
		return
	}
	indices, leftOut := s.candidates(k, due, free < len(due))
	for _, i := range indices {
		if s.full(due[i], k) { // filled by another sample of this same batch
			leftOut++
			continue
		}
		if free == 0 && !s.giveWay(k) {
			return
		}
		free = max(free-1, 0)
		s.planned[int(due[i])*s.shape.Nodes+k]++
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

func (s *State) enter(k, at int) {
	s.owner[s.dealt.Samples[at]] = uint16(k)
	s.held[k]++
	s.dealt.Fates[at] |= Keep
}

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
	s.dealt.Drops = append(s.dealt.Drops, Drop{Node: uint16(k), Sample: sample})
	return true
}

// candidates lists the indices into due of samples that are worth keeping, in order of preference if the order
// matters, and counts those whose next step is full.
func (s *State) candidates(k int, due []uint32, ordered bool) (indices []uint32, full int) {
	p := &s.pick
	p.reset()
	for i, step := range due {
		switch {
		case step == never:
		case s.full(step, k):
			full++
		default:
			p.add(uint32(i), s.crowd(step, k))
		}
	}
	if !ordered {
		return p.index, full
	}
	return p.sorted(), full
}

// crowd is how many samples node k has planned for the step, scaled to a step of full size and below Slots.
func (s *State) crowd(step uint32, k int) uint32 {
	n := s.planned[int(step)*s.shape.Nodes+k]
	if int(step) == s.shape.Steps-1 {
		n = uint32(uint64(n) * uint64(s.shape.Slots) / uint64(s.shape.TailSlots))
	}
	return n
}

// pick orders indices by a small key, stably, by counting.
type pick struct {
	index, key, out []uint32
	count           []uint32 // by key, all zero between uses
	low, high       uint32   // keys seen
}

func newPick(slots int) pick {
	return pick{index: make([]uint32, 0, slots), key: make([]uint32, 0, slots), out: make([]uint32, slots), count: make([]uint32, slots)}
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
