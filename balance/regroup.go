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
	spare []uint32 // positions of the loads that no node keeps
	turn  []uint16 // the node of each of them in file order
}

func newRegroup(shape Shape) regroup {
	places := bits.Len(uint(min(shape.Batch(), 1<<12)))
	shift := max(0, bits.Len(uint(shape.Samples))-places)
	return regroup{
		shift: uint(shift), count: make([]uint32, (shape.Samples-1)>>shift+2),
		spare: make([]uint32, shape.Batch()), turn: make([]uint16, 0, shape.Batch()),
	}
}

// regroupLoads is called when all is decided: it changes who only.
func (s *State) regroupLoads(batch []uint32) {
	if s.shape.Nodes == 1 {
		return
	}
	r := &s.regroup
	spare := s.spareLoads(batch)
	r.turn = r.turn[:0]
	for k, n := range s.count[:s.shape.Nodes] {
		for range n {
			r.turn = append(r.turn, uint16(k))
		}
	}
	for p := range len(r.count) - 1 {
		r.count[p+1] += r.count[p]
	}
	for _, i := range spare {
		at := &r.count[batch[i]>>(r.shift&63)]
		s.who[i] = r.turn[*at]
		*at++
	}
}

// spareLoads lists the positions of the loads that no node keeps, and counts them by place (one place further on) and by node.
func (s *State) spareLoads(batch []uint32) []uint32 {
	r, n := &s.regroup, 0
	clear(r.count)
	clear(s.count)
	for _, i := range s.misses {
		r.spare[n] = i
		spare := same(uint32(s.fates[i]), uint32(Load))
		r.count[batch[i]>>(r.shift&63)+1] += spare
		s.count[s.who[i]] += spare
		n += int(spare)
	}
	return r.spare[:n]
}
