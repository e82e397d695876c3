package balance

import "math"

// Fate says what happens to a sample in a step on the node that processes it.
type Fate uint8

const (
	// Load: the sample is read from storage. Without this bit it is a hit: it is in the node's buffer.
	Load Fate = 1 << iota
	// Keep: the sample is in the node's buffer after the step. A hit without it leaves.
	Keep
	// Remote: the sample is read from the memory of another node, which keeps it. Neither load nor hit.
	Remote
)

// Nobody is the owner of a sample that no buffer holds; see Owners.
const Nobody = math.MaxUint16

// State is what all buffers hold, carried from step to step. Not safe for concurrent use.
//
// Invariants between steps: a sample is held by one node at most, places says which. held[k] counts the samples of node k
// and is at most Buffer. idle[k] lists those of node k that neither the rest of this epoch nor the next epoch uses. planned[t*Nodes+k],
// here and in a future, counts the samples that node k holds now and that step t of that epoch uses.
//
// Memory: 4 bytes per sample, and 4 per step and node, for each epoch that is foreseen.
type State struct {
	shape   Shape
	depth   int // how many epochs are foreseen at most
	places  places
	planned []uint32 // of the next epoch
	last    bool     // no epoch follows: nothing is kept
	more    bool     // two follow at least
	later   []*future
	spare   []*future
	held    []int
	idle    [][]uint32

	mostFull, mostTail int // samples that a node may have in a full step, and in the last
	scratch
}

// future is an epoch after the next one.
type future struct {
	step    []uint32 // by sample: when the epoch uses it, or never
	planned []uint32
}

// scratch is reused by every step, so that a step allocates nothing.
type scratch struct {
	words     []uint32 // by position, as in places
	who       []uint16 // by position: the node that processes it
	when      []uint32 // by position: next use
	fates     []Fate   // by position
	misses    []uint32 // positions of what no buffer holds, ascending
	index     []uint32 // by node: the positions of its samples, ascending
	due       []uint32 // as index: next use
	regular   []int    // by node: samples that are not repeats; they stand first
	count     []uint32 // by node, and one more place for nobody
	biases    []uint64 // by node: its part of deal's key
	fill      []int    // by node: samples it has so far
	size      []int    // by node: samples it will have
	at        []int    // by node: where its next sample is written
	crowd     []uint32 // by node
	unplanned []uint32 // by node: always 0
	surplus   []surplus
	key       key
	groups    groups
	pick      pick
	regroup   regroup
	dealt     Dealt
}

// Dealt is one step's outcome. Samples and Fates are by node, then by position in the global batch. Valid until the next Step.
type Dealt struct {
	Samples []uint32 // node k's are Samples[Starts[k]:Starts[k+1]]
	Fates   []Fate
	Starts  []int // Nodes+1
	Loads   []int // by node
	// LeftOut counts samples that a node had room for but did not keep, since it has a hit for each of
	// its slots in their next step already. Each may be a load more in the next epoch: the price of equal batches.
	LeftOut int
	// Drops leave a buffer though their node does not process them in this step; ascending by node.
	Drops []Moved
	// Riders enter a buffer though their node does not process them in this step: they come with a chunk that is read for
	// one of its loads. Ascending by node.
	Riders []Moved
}

// Moved is a sample that leaves or enters the buffer of a node.
type Moved struct {
	Node   uint16
	Sample uint32
}

// Node returns what node k processes.
func (d *Dealt) Node(k int) ([]uint32, []Fate) {
	from, to := d.Starts[k], d.Starts[k+1]
	return d.Samples[from:to], d.Fates[from:to]
}

// NewDealt returns a Dealt with room for a full step.
func NewDealt(shape Shape) Dealt {
	return Dealt{
		Samples: make([]uint32, shape.Batch()), Fates: make([]Fate, shape.Batch()),
		Starts: make([]int, shape.Nodes+1), Loads: make([]int, shape.Nodes),
	}
}

// New returns empty buffers that look depth epochs ahead, 1 at least. It panics if the shape breaks the limits said there:
// specs are checked before.
func New(shape Shape, depth int) *State {
	shape.Check()
	batch := shape.Batch()
	s := &State{
		shape: shape, depth: depth, mostFull: shape.Most(shape.Slots), mostTail: shape.Most(shape.TailSlots),
		places: newPlaces(shape), planned: make([]uint32, shape.Steps*shape.Nodes),
		held: make([]int, shape.Nodes), idle: make([][]uint32, shape.Nodes),
		scratch: scratch{
			words: make([]uint32, batch), who: make([]uint16, batch), when: make([]uint32, batch), fates: make([]Fate, batch),
			misses: make([]uint32, batch), index: make([]uint32, batch), due: make([]uint32, batch),
			regular: make([]int, shape.Nodes), biases: make([]uint64, shape.Nodes), fill: make([]int, shape.Nodes),
			size: make([]int, shape.Nodes), at: make([]int, shape.Nodes), crowd: make([]uint32, shape.Nodes), unplanned: make([]uint32, shape.Nodes),
			key: newKey(batch * depth), groups: newGroups(shape.Nodes), pick: newPick(shape.Most(shape.Slots)), regroup: newRegroup(shape), dealt: NewDealt(shape),
		},
	}
	s.count = make([]uint32, s.places.nobody+1)
	return s
}
