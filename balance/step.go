package balance

import (
	"cmp"
	"fmt"
	"slices"
)

// Step deals the next global batch: nodes*slots samples by position, of which those from position regular on
// repeat samples that this epoch already used (padding). A repeat is a load, never a hit, never kept.
//
// A hit goes to the node that holds it, unless that node would have more samples than it may: then one of its hits leaves that
// buffer (Drops) and is dealt like a miss. A miss goes to a node that has room to keep one more, if there is any; of the group of nodes
// whose turn it is, to the one with the fewest samples planned for the steps that need it next, then to the one with most
// slots free, then to the lower node. What is kept is decided then; loads that are not kept change places so that each
// node's are near each other in the file.
func (s *State) Step(batch []uint32, regular int) *Dealt {
	slots := len(batch) / s.shape.Nodes
	if slots*s.shape.Nodes != len(batch) || slots > s.shape.Slots || slots%s.shape.Ranks != 0 {
		panic(fmt.Sprintf("balance: a batch of %d samples for %d nodes of %d slots", len(batch), s.shape.Nodes, s.shape.Slots))
	}
	s.dealt.Drops, s.dealt.LeftOut = s.dealt.Drops[:0], 0
	s.look(batch)
	s.claim(batch, regular)
	s.shape.Share(s.fill, slots, s.size)
	s.release(batch)
	s.begin()
	s.deal(batch)
	s.group(len(batch), regular)
	for k := range s.shape.Nodes {
		s.keep(k, batch)
	}
	s.regroupLoads(batch)
	s.place(batch)
	slices.SortStableFunc(s.dealt.Drops, func(a, b Moved) int { return cmp.Compare(a.Node, b.Node) })
	return &s.dealt
}

// look gathers what is known of each sample. It is a loop of its own so that the cache misses of the
// random reads overlap.
func (s *State) look(batch []uint32) {
	from, to := s.places.word, s.words[:len(batch)]
	for i, sample := range batch {
		to[i] = from[sample]
	}
}

// claim gives each hit to its holder; who is nobody at each miss. Hits do not count as held until keep
// says which of them are.
func (s *State) claim(batch []uint32, regular int) {
	p, words := s.places, s.words[:len(batch)]
	clear(s.count)
	for i, word := range words[:regular] {
		node := word & p.nobody
		s.count[node]++
		s.who[i], s.when[i], s.fates[i] = uint16(node), word>>p.bits, Fate(same(node, p.nobody))
	}
	for i := regular; i < len(words); i++ {
		s.who[i], s.when[i], s.fates[i] = uint16(p.nobody), words[i]>>p.bits, Load
	}
	for k := range s.fill {
		hits := int(s.count[k])
		s.fill[k] = hits
		s.held[k] -= hits
	}
	s.listMisses(len(batch))
}

// listMisses lists the positions that are nobody's, without a branch that would be guessed wrong half of the time.
func (s *State) listMisses(batch int) {
	n, misses := 0, s.misses[:batch]
	for i, fate := range s.fates[:batch] {
		misses[n] = uint32(i)
		n += int(fate & Load)
	}
	s.misses = misses[:n]
}

// same is 1 if two nodes are the same, else 0.
func same(a, b uint32) uint32 { return (a ^ b - 1) >> 31 }

// begin sets where each node's samples begin and how many loads it has.
func (s *State) begin() {
	from := 0
	for k, n := range s.size {
		s.dealt.Starts[k] = from
		s.dealt.Loads[k] = n - s.fill[k]
		from += n
	}
	s.dealt.Starts[s.shape.Nodes] = from
}

// deal finds a node for each miss: the least key, see key.go.
func (s *State) deal(batch []uint32) {
	for k := range s.biases {
		s.biases[k] = s.bias(k)
	}
	s.groups.divide(len(s.misses), len(batch))
	switch {
	case s.depth > 1 && !s.last:
		for _, i := range s.misses {
			s.give(i, s.key.least(s.crowded(batch[i], s.when[i]), s.biases))
		}
	case s.groups.n() > 1:
		s.dealInTurns()
	default:
		s.dealInPairs()
	}
}

// dealInPairs compares all nodes. The least keys of two misses are found before either is dealt, so that the processor need not wait for
// the first to begin with the second.
func (s *State) dealInPairs() {
	misses := s.misses
	for ; len(misses) > 1; misses = misses[2:] {
		planned := s.inStep(s.when[misses[1]])
		first, second := s.key.least(s.inStep(s.when[misses[0]]), s.biases), s.key.least(planned, s.biases)
		s.give(misses[0], first)
		if first == second { // whose key is a higher one now
			second = s.key.least(planned, s.biases)
		}
		s.give(misses[1], second)
	}
	for _, i := range misses {
		s.give(i, s.key.least(s.inStep(s.when[i]), s.biases))
	}
}

// dealInTurns compares one group of nodes for each miss.
func (s *State) dealInTurns() {
	g := &s.groups
	g.begin(s.biases, s.fill, s.size)
	for _, i := range s.misses {
		group := g.next()
		from, to := g.start[group], g.start[group+1]
		k := s.key.least(s.inStep(s.when[i])[from:to], s.biases[from:to])
		g.count(group, s.biases[k], -1)
		s.give(i, k)
		g.count(group, s.biases[k], 1)
		g.slots[group]--
	}
}

// give deals the sample at position i to node k.
func (s *State) give(i uint32, k int) {
	s.who[i] = uint16(k)
	s.fill[k]++
	s.biases[k] = s.bias(k)
}

// inStep is what each node has planned for a step of the next epoch.
func (s *State) inStep(step uint32) []uint32 {
	if step == s.places.never {
		return s.unplanned
	}
	return s.planned[int(step)*s.shape.Nodes:][:s.shape.Nodes]
}

// group lists the positions of each node.
func (s *State) group(batch, regular int) {
	copy(s.at, s.dealt.Starts)
	s.groupFrom(0, regular)
	for k, at := range s.at {
		s.regular[k] = at - s.dealt.Starts[k]
	}
	s.groupFrom(regular, batch)
}

func (s *State) groupFrom(from, to int) {
	for i := from; i < to; i++ {
		at := s.at[s.who[i]]
		s.at[s.who[i]]++
		s.index[at], s.due[at] = uint32(i), s.when[i]
	}
}

// place writes samples by node, each node's in the order of the global batch.
func (s *State) place(batch []uint32) {
	copy(s.at, s.dealt.Starts)
	d := &s.dealt
	d.Samples, d.Fates = d.Samples[:len(batch)], d.Fates[:len(batch)]
	for i, sample := range batch {
		k := s.who[i]
		at := s.at[k]
		s.at[k]++
		d.Samples[at], d.Fates[at] = sample, s.fates[i]
	}
}
