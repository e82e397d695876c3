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
// buffer (Drops) and is dealt like a miss. A miss goes to a node that has room to keep one more, if there is any;
// then to the node with the fewest samples planned for the steps that need it next, then to the one with most
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
	for k, hits := range s.fill {
		s.dealt.Loads[k] = s.size[k] - hits
	}
	s.deal(batch)
	s.place(batch, regular)
	if !s.last() {
		for k := range s.shape.Nodes {
			s.keep(k)
		}
	}
	s.regroupLoads(batch)
	slices.SortStableFunc(s.dealt.Drops, func(a, b Moved) int { return cmp.Compare(a.Node, b.Node) })
	return &s.dealt
}

// look gathers what is known of each sample. It is a loop of its own so that the cache misses of the
// random reads overlap.
func (s *State) look(batch []uint32) {
	who, when := s.who[:len(batch)], s.when[:len(batch)]
	if s.last() {
		for i, sample := range batch {
			who[i], when[i] = s.owner[sample], never
		}
		return
	}
	next := s.ahead[0].step
	for i, sample := range batch {
		who[i], when[i] = s.owner[sample], next[sample]
	}
}

// claim gives each hit to its holder. Afterwards who is nobody at each miss. Every sample claimed has left
// its buffer; keep lets it in again.
func (s *State) claim(batch []uint32, regular int) {
	clear(s.fill)
	for i, sample := range batch {
		k := s.who[i]
		if i >= regular || k == nobody {
			s.who[i], s.fates[i] = nobody, Load
			continue
		}
		s.owner[sample] = nobody
		s.held[k]--
		s.fill[k]++
		s.fates[i] = 0
	}
}

// deal finds a node for each miss: the least key, see key.go.
func (s *State) deal(batch []uint32) {
	for k := range s.biases {
		s.biases[k] = s.bias(k)
	}
	nodes := s.shape.Nodes
	for i, k := range s.who[:len(batch)] {
		if k != nobody {
			continue
		}
		var best int
		switch step := s.when[i]; {
		case s.depth > 1 && !s.last():
			best = s.key.leastPlanned(s.crowded(batch[i]), s.biases)
		case step == never:
			best = s.key.least(s.biases)
		default:
			best = s.key.leastPlanned(s.ahead[0].planned[int(step)*nodes:][:nodes], s.biases)
		}
		s.who[i] = uint16(best)
		s.fill[best]++
		s.biases[best] = s.bias(best)
	}
}

// place writes samples by node, each node's in the order of the global batch.
func (s *State) place(batch []uint32, regular int) {
	s.begin()
	d := &s.dealt
	d.Samples, d.Fates = d.Samples[:len(batch)], d.Fates[:len(batch)]
	clear(s.regular)
	for i, sample := range batch {
		k := s.who[i]
		at := s.at[k]
		s.at[k]++
		d.Samples[at], d.Fates[at], s.due[at] = sample, s.fates[i], s.when[i]
		if i < regular {
			s.regular[k]++
		}
	}
}

// begin sets where each node's samples begin.
func (s *State) begin() {
	from := 0
	for k, n := range s.size {
		s.dealt.Starts[k], s.at[k] = from, from
		from += n
	}
	s.dealt.Starts[s.shape.Nodes] = from
}
