package balance

import (
	"iter"
	"slices"
)

// Begin starts an epoch. fresh yields the orders of the epochs after it that have not been told yet, the next first, each
// sample at most once (so without padding), step by step; nil where none are left. Afterwards depth epochs are foreseen, or all that follow
// if they are fewer. more says that two follow at least: only then is it worth keeping samples that the next does not use.
func (s *State) Begin(fresh iter.Seq[[]uint32], more bool) {
	s.more = more
	s.groups.turn = 0 // so that a resumed schedule deals as one that was never interrupted
	s.last = len(s.later) == 0
	if !s.last {
		s.advance()
	}
	if fresh != nil {
		for order := range fresh {
			s.foresee(order)
		}
	}
	if s.last {
		s.places.forget()
	}
	s.wake()
}

// foresee tells of one more epoch.
func (s *State) foresee(order []uint32) {
	if s.last {
		s.last = false
		s.expect(order)
		return
	}
	f := s.newFuture()
	if len(order) < len(f.step) {
		for i := range f.step {
			f.step[i] = s.places.never
		}
	}
	s.steps(order, f.planned, func(step uint32, part []uint32) {
		for _, sample := range part {
			f.step[sample] = step
		}
	})
	s.later = append(s.later, f)
}

// expect tells of the next epoch.
//
// What the nodes hold is counted as if it stayed until then. At a million samples on 16 nodes the busiest node's loads per step fall
// by it from 1.053 to 1.010 times the mean where the buffers hold 3/4 of the set, and from 1.30 to 1.09 where they hold 9/10.
func (s *State) expect(order []uint32) {
	p := s.places
	if len(order) < len(p.word) {
		p.forget()
	}
	s.steps(order, s.planned, func(step uint32, part []uint32) {
		for i, sample := range part {
			p.word[sample] = step<<p.bits | s.words[i]&p.nobody
		}
	})
}

// steps calls see with parts of each step of an order, whose words are looked up, and fills planned with what the nodes hold of the step.
func (s *State) steps(order, planned []uint32, see func(step uint32, part []uint32)) {
	const near = 1024 // so few samples that what look brings from memory is still in the cache when see writes there
	clear(planned)
	step := 0
	for batch := range slices.Chunk(order, s.shape.Batch()) {
		clear(s.count)
		for part := range slices.Chunk(batch, near) {
			s.look(part)
			for _, word := range s.words[:len(part)] {
				s.count[word&s.places.nobody]++
			}
			see(uint32(step), part)
		}
		copy(planned[step*s.shape.Nodes:], s.count[:s.shape.Nodes])
		step++
	}
}

// advance makes the first of the later epochs the next one.
func (s *State) advance() {
	f, p := s.later[0], s.places
	for i, step := range f.step {
		p.word[i] = step<<p.bits | p.word[i]&p.nobody
	}
	s.planned, f.planned = f.planned, s.planned
	s.later = append(s.later[:0], s.later[1:]...)
	s.spare = append(s.spare, f)
}

func (s *State) newFuture() *future {
	if n := len(s.spare) - 1; n >= 0 {
		f := s.spare[n]
		s.spare = s.spare[:n]
		return f
	}
	return &future{step: make([]uint32, s.shape.Samples), planned: make([]uint32, s.shape.Steps*s.shape.Nodes)}
}

// wake takes those samples from the idle ones that the next epoch does use. The others are put in order: what a buffer gives up first must
// not depend on how it came to hold what it holds.
func (s *State) wake() {
	never := s.places.never
	for k, idle := range s.idle {
		s.idle[k] = slices.DeleteFunc(idle, func(sample uint32) bool { return s.places.word[sample]>>s.places.bits != never })
		slices.Sort(s.idle[k])
	}
}

// plan counts a sample that the next epoch uses at step next for node k in what is foreseen, or with by = -1 takes it out again.
func (s *State) plan(sample, next uint32, k int, by int) {
	if next != s.places.never {
		s.planned[int(next)*s.shape.Nodes+k] += uint32(by)
	}
	for _, f := range s.later {
		if step := f.step[sample]; step != s.places.never {
			f.planned[int(step)*s.shape.Nodes+k] += uint32(by)
		}
	}
}

// most is how many samples a node may have in a step.
func (s *State) most(step uint32) int {
	if int(step) == s.shape.Steps-1 {
		return s.mostTail
	}
	return s.mostFull
}

// crowded returns for each node how many samples it has planned for the steps that need this sample, in the next epoch at step
// next: the less the better it suits.
func (s *State) crowded(sample, next uint32) []uint32 {
	clear(s.crowd)
	s.addCrowd(s.planned, next)
	for _, f := range s.later {
		s.addCrowd(f.planned, f.step[sample])
	}
	return s.crowd
}

func (s *State) addCrowd(planned []uint32, step uint32) {
	if step == s.places.never {
		return
	}
	for k, n := range planned[int(step)*s.shape.Nodes:][:s.shape.Nodes] {
		s.crowd[k] += n
	}
}
