package balance

import "math/bits"

// key packs what deal compares into one number, so that finding the best node is a minimum without
// branches: from the top, 1 bit "no slot free", 1 bit "nothing more can be kept", 22 bits samples planned for the
// steps that need this one next, 24 bits slots taken, 16 bits node.
type key struct {
	shift int // counts beyond 2^22 samples are compared in units of 2^shift
}

const (
	plannedAt = 40
	takenAt   = 16
	noRoom    = 1 << 62
	noSlot    = 1 << 63
	nodeMask  = 1<<takenAt - 1
)

// newKey is for counts of samples up to most.
func newKey(most int) key {
	return key{shift: max(0, bits.Len(uint(most))-22)}
}

// bias is the part of a node's key that is the same for all samples.
func (s *State) bias(node int) uint64 {
	taken := s.fill[node]
	if taken == s.size[node] {
		return noSlot | uint64(node)
	}
	b := uint64(taken>>s.key.shift)<<takenAt | uint64(node)
	if s.held[node]+taken >= s.shape.Buffer {
		b |= noRoom
	}
	return b
}

func (c key) least(bias []uint64) int {
	low := bias[0]
	for _, b := range bias[1:] {
		low = min(low, b)
	}
	return int(low & nodeMask)
}

func (c key) leastPlanned(planned []uint32, bias []uint64) int {
	low := [2]uint64{1<<64 - 1, 1<<64 - 1} // two chains of minima run side by side
	n := len(planned)
	bias = bias[:n]
	i := 0
	for ; i < n-1; i += 2 {
		low[0] = min(low[0], uint64(planned[i]>>c.shift)<<plannedAt+bias[i])
		low[1] = min(low[1], uint64(planned[i+1]>>c.shift)<<plannedAt+bias[i+1])
	}
	if i < n {
		low[0] = min(low[0], uint64(planned[i]>>c.shift)<<plannedAt+bias[i])
	}
	return int(min(low[0], low[1]) & nodeMask)
}
