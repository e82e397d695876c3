package balance

import "math/bits"

// regroup moves the loads of a step that no node keeps to nodes that load their neighbours in the file. Who processes them changes
// nothing else: no buffer holds them afterwards, and each node loads as many as before.
//
// The samples are counted by place in the file, coarsely; node 0 gets as many of the first ones as it has such loads, node 1
// the next, and so on. As all nodes have about equally many, node k reads from about the k-th part of the file, in every step.
type regroup struct {
	shift uint     // a sample's place is sample >> shift
	count []uint32 // by place, then where it begins
	turn  []uint16 // the node of each load in file order
}

func newRegroup(shape Shape) regroup {
	places := bits.Len(uint(min(shape.Batch(), 1<<12)))
	shift := max(0, bits.Len(uint(shape.Samples))-places)
	return regroup{
		shift: uint(shift), count: make([]uint32, (shape.Samples-1)>>shift+2),
		turn: make([]uint16, 0, shape.Batch()),
	}
}

// regroupLoads is called when all is decided: it changes places within dealt only.
func (s *State) regroupLoads(batch []uint32) {
	if s.shape.Nodes == 1 {
		return
	}
	r, d := &s.regroup, &s.dealt
	clear(r.count)
	r.turn = r.turn[:0]
	for k := range s.shape.Nodes {
		samples, fates := d.Node(k)
		for i, f := range fates {
			if f == Load {
				r.turn = append(r.turn, uint16(k))
				r.count[samples[i]>>r.shift+1]++
			}
		}
	}
	if len(r.turn) == 0 {
		return
	}
	for p := range len(r.count) - 1 {
		r.count[p+1] += r.count[p]
	}
	s.begin()
	for i, sample := range batch { // what each position has become stands where place put it
		at := s.at[s.who[i]]
		s.at[s.who[i]]++
		if s.fates[i] = d.Fates[at]; s.fates[i] == Load {
			place := sample >> r.shift
			s.who[i] = r.turn[r.count[place]]
			r.count[place]++
		}
	}
	s.begin()
	for i, sample := range batch {
		at := s.at[s.who[i]]
		s.at[s.who[i]]++
		d.Samples[at], d.Fates[at] = sample, s.fates[i]
	}
}
