package peers

import "math"

const never = math.MaxUint32

// future knows at which position each sample stands in the epochs told last, depth of them. Memory: 4 bytes per sample and epoch.
type future struct {
	depth     int
	positions []uint32 // by sample, then epoch mod depth: never where the epoch does not use it
}

func newFuture(samples, depth int) future {
	return future{depth: depth, positions: make([]uint32, samples*depth)}
}

// tell writes an epoch's order over that of depth epochs before.
func (f *future) tell(epoch int, order []uint32) {
	at := epoch % f.depth
	if len(order)*f.depth < len(f.positions) {
		for i := at; i < len(f.positions); i += f.depth {
			f.positions[i] = never
		}
	}
	for position, sample := range order {
		f.positions[int(sample)*f.depth+at] = uint32(position)
	}
}

// position is where a sample stands in one of the epochs told last, or never.
func (f *future) position(sample uint32, epoch int) uint32 {
	return f.positions[int(sample)*f.depth+epoch%f.depth]
}
