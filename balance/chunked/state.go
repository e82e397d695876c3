package chunked

import (
	"iter"
	"math"

	"solarfs/balance"
)

const (
	nobody = math.MaxUint16 // owner of a sample that no buffer holds
	never  = math.MaxUint32 // step of a sample that an epoch does not use
	none   = math.MaxUint32 // no sample
)

// State is what all buffers hold, carried from step to step. Not safe for concurrent use.
//
// A time is a step counted from the first epoch on. Invariants between steps: owner[s] is the only node that holds s, and s is in that node's list
// for the time of its next use, which is in this epoch or the next.
//
// Memory: 18 bytes per sample, and 16 per step and node.
type State struct {
	shape   balance.Shape
	chunk   int
	owner   []uint16
	at      [2][]uint32 // by parity of the epoch: the step of each sample, or never
	held    held
	epoch   int
	step    int      // the next of the epoch
	last    bool     // no epoch follows
	reach   int      // steps ahead for which a chunk's samples are kept at most
	seen    []uint64 // bit per chunk: has been read
	resumed bool
	inPlace bool // a global batch names the nodes: the k-th part of it is node k's
	scratch
}

// scratch is reused by every step.
type scratch struct {
	fill, size, cursor  []int    // by node: samples so far, in the end, and where the next is written
	who                 []uint16 // by position
	fates               []balance.Fate
	misses              []miss
	siblings, elsewhere []sibling // of the chunk being read, needed again: what no buffer holds, and what one holds
	crowd               []int
	entered             []entry
	isNew               []uint64 // bit per sample: entered in this step
	dealt               balance.Dealt
}

// miss is a sample of the global batch that no buffer holds.
type miss struct{ chunk, position uint32 }

// entry is a sample that entered a buffer in this step, and its position in the global batch: -1 for a rider.
type entry struct {
	node     uint16
	sample   uint32
	position int
}

// New returns empty buffers for chunks of chunk samples, and the order (without repeats) of the first epoch.
func New(shape balance.Shape, chunk int, first []uint32) *State {
	shape.Check()
	batch := shape.Batch()
	s := &State{
		shape: shape, chunk: chunk, owner: make([]uint16, shape.Samples), held: newHeld(shape), epoch: -1, reach: reach(shape, chunk),
		seen: make([]uint64, (shape.Samples/chunk+64)/64),
		scratch: scratch{
			fill: make([]int, shape.Nodes), size: make([]int, shape.Nodes), cursor: make([]int, shape.Nodes),
			who: make([]uint16, batch), fates: make([]balance.Fate, batch), crowd: make([]int, shape.Nodes),
			isNew: make([]uint64, (shape.Samples+63)/64), dealt: balance.NewDealt(shape),
		},
	}
	for i := range s.owner {
		s.owner[i] = nobody
	}
	for p := range s.at {
		s.at[p] = make([]uint32, shape.Samples)
	}
	s.foresee(s.at[0], first)
	return s
}

// NewInPlace returns empty buffers for orders that deal the chunks to the nodes already: of each global batch, the k-th part is
// node k's, and holds samples of its own chunks alone. They are followed, and nothing is kept from one epoch to the next.
func NewInPlace(shape balance.Shape, chunk int, first []uint32) *State {
	s := New(shape, chunk, first)
	s.inPlace = true
	return s
}

// Begin starts an epoch; fresh yields the order of the next one, if there is one.
func (s *State) Begin(fresh iter.Seq[[]uint32], _ bool) {
	s.epoch++
	s.step, s.last = 0, true
	for order := range fresh {
		s.foresee(s.at[(s.epoch+1)%2], order)
		s.last = false
	}
	s.enlist()
	if s.epoch > 0 || s.resumed {
		for i := range s.seen {
			s.seen[i] = math.MaxUint64
		}
	}
}

func (s *State) foresee(at []uint32, order []uint32) {
	for i := range at {
		at[i] = never
	}
	for batch, step := s.shape.Batch(), uint32(0); len(order) > 0; step++ {
		n := min(batch, len(order))
		for _, sample := range order[:n] {
			at[sample] = step
		}
		order = order[n:]
	}
}

// now is the time of the step being dealt.
func (s *State) now() int { return s.epoch*s.shape.Steps + s.step }

// due is the time at which a sample is needed next, after the step being dealt; false if that is not within the next epoch.
func (s *State) due(sample uint32) (int, bool) {
	if step := s.at[s.epoch%2][sample]; step != never && int(step) > s.step {
		return s.epoch*s.shape.Steps + int(step), true
	}
	if s.last || s.inPlace {
		return 0, false
	}
	step := s.at[(s.epoch+1)%2][sample]
	return (s.epoch+1)*s.shape.Steps + int(step), step != never
}

// isDue tells whether the step being dealt is a sample's step in this epoch.
func (s *State) isDue(sample uint32) bool { return int(s.at[s.epoch%2][sample]) == s.step }

// reach is x*N/c of the package comment in steps, a little less. With .9 of it fewer chunks are read for some epochs, until all buffers are
// full; from then on what is evicted decides, and they run empty at the same time again and again.
func reach(shape balance.Shape, chunk int) int {
	const part = .82
	share := math.Min(1, float64(shape.Buffer)*float64(shape.Nodes)/float64(shape.Samples))
	a := share * float64(chunk)
	x := a + math.Sqrt(a*a+2*a) // x*x = 2a(1+x)
	return int(math.Ceil(part * x / float64(chunk) * float64(shape.Steps)))
}

// firstReach is for a chunk's first read. All chunks are first read at about the same time: with two thirds of reach in the mean they fill
// the buffers, and as each has another part of it, they are not read again at the same time.
func (s *State) firstReach(chunk uint32) int {
	const least, most = .17, 1.15
	return int((least + (most-least)*phase(chunk)) * float64(s.reach))
}

// phase is a fraction that is spread evenly over the chunks: the fractional part of multiples of the golden ratio.
func phase(chunk uint32) float64 { return float64(chunk*2654435769) / (1 << 32) }
