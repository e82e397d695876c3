package balance

import (
	"fmt"
	"slices"
)

// Step deals the next global batch: nodes*slots samples by position, of which those from position regular on
// repeat samples that this epoch already used (padding). A repeat is a load, never a hit, never kept.
//
// A hit goes to the node that holds it, unless that node's part is full already: then the sample leaves that
// buffer (Drops) and is dealt like a miss. A miss goes to a node that has room to keep one more, if there is any;
// then to the node with the fewest samples planned for the step that needs it next, then to the one with most
// slots free, then to the lower node.
func (s *State) Step(batch []uint32, regular int) *Dealt {
	slots := len(batch) / s.shape.Nodes
	if slots*s.shape.Nodes != len(batch) || slots > s.shape.Slots {
		panic(fmt.Sprintf("balance: a batch of %d samples for %d nodes of %d slots", len(batch), s.shape.Nodes, s.shape.Slots))
	}
	s.look(batch)
	s.dealt.Drops, s.dealt.LeftOut = s.dealt.Drops[:0], 0
	s.claim(batch, regular, slots)
	for k, taken := range s.fill {
		s.dealt.Loads[k] = slots - taken
	}
	s.deal(len(batch), slots)
	s.place(batch, regular, slots)
	if !s.last {
		for k := range s.shape.Nodes {
			s.keep(k, slots)
		}
	}
	slices.SortStableFunc(s.dealt.Drops, byNode)
	return &s.dealt
}

// look gathers what is known of each sample. It is a loop of its own so that the cache misses of the
// random reads overlap.
func (s *State) look(batch []uint32) {
	who, when := s.who[:len(batch)], s.when[:len(batch)]
	for i, sample := range batch {
		who[i] = s.owner[sample]
		when[i] = s.next[sample]
	}
}

// claim gives each hit to its holder. Afterwards who is nobody at each miss. Every sample claimed has left
// its buffer; keep lets it in again.
func (s *State) claim(batch []uint32, regular, slots int) {
	clear(s.fill)
	for i, sample := range batch {
		k := s.who[i]
		if i >= regular || k == nobody {
			s.who[i], s.fates[i] = nobody, Load
			continue
		}
		s.owner[sample] = nobody
		s.held[k]--
		if s.fill[k] == slots {
			s.dealt.Drops = append(s.dealt.Drops, Drop{Node: k, Sample: sample})
			s.who[i], s.fates[i] = nobody, Load
			continue
		}
		s.fill[k]++
		s.fates[i] = 0
	}
}

// deal finds a node for each miss: the least key, see key.go.
func (s *State) deal(positions, slots int) {
	for k := range s.biases {
		s.biases[k] = s.bias(k, slots)
	}
	nodes := s.shape.Nodes
	for i, k := range s.who[:positions] {
		if k != nobody {
			continue
		}
		var best int
		if step := s.when[i]; step == never || s.last {
			best = s.key.least(s.biases)
		} else {
			best = s.key.leastPlanned(s.planned[int(step)*nodes:][:nodes], s.biases)
		}
		s.who[i] = uint16(best)
		s.fill[best]++
		s.biases[best] = s.bias(best, slots)
	}
}

// place writes samples by node, each node's in the order of the global batch.
func (s *State) place(batch []uint32, regular, slots int) {
	for k := range s.fill {
		s.fill[k] = k * slots
		s.regular[k] = 0
	}
	d := &s.dealt
	d.Samples, d.Fates = d.Samples[:len(batch)], d.Fates[:len(batch)]
	for i, sample := range batch {
		k := s.who[i]
		at := s.fill[k]
		s.fill[k]++
		d.Samples[at], d.Fates[at], s.due[at] = sample, s.fates[i], s.when[i]
		if i < regular {
			s.regular[k]++
		}
	}
}

func byNode(a, b Drop) int { return int(a.Node) - int(b.Node) }
