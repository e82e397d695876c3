package balance

import "math/bits"

// key packs what deal compares into one number, so that finding the best node is a minimum without
// branches: from the top, 1 bit "no slot free", 1 bit "nothing more can be kept", 22 bits samples planned for the
// steps that need this one next, 24 bits slots taken, 16 bits node.
type key struct {
	shift uint // counts beyond 2^22 samples are compared in units of 2^shift
}

const (
	plannedAt = 40
	takenAt   = 16
	noRoom    = 1 << 62
	noSlot    = 1 << 63
	nodeMask  = 1<<takenAt - 1
	noKey     = 1<<64 - 1
)

// newKey is for counts of samples up to most.
func newKey(most int) key {
	return key{shift: uint(max(0, bits.Len(uint(most))-22))}
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

// least finds the best node, given what each has planned.
func (c key) least(planned []uint32, bias []uint64) int {
	n, shift := len(planned), c.shift&31 // as it is; said so that the shifts below need no test
	bias = bias[:n]
	low0, low1, low2, low3 := uint64(noKey), uint64(noKey), uint64(noKey), uint64(noKey) // four chains of minima run side by side
	i := 0
	for ; i < n-3; i += 4 {
		low0 = min(low0, uint64(planned[i]>>shift)<<plannedAt+bias[i])
		low1 = min(low1, uint64(planned[i+1]>>shift)<<plannedAt+bias[i+1])
		low2 = min(low2, uint64(planned[i+2]>>shift)<<plannedAt+bias[i+2])
		low3 = min(low3, uint64(planned[i+3]>>shift)<<plannedAt+bias[i+3])
	}
	for ; i < n; i++ {
		low0 = min(low0, uint64(planned[i]>>shift)<<plannedAt+bias[i])
	}
	return int(min(low0, low1, low2, low3) & nodeMask)
}
