package chunked

import "solarfs/balance"

// held lists what each node's buffer holds by the time of next use, so that the farthest is found at once.
//
// Invariants: the lists of a node hold count[k] samples, none of which is needed later than farthest[k]. Times in use lie within two
// epochs, so a list's place is the time modulo two epochs.
type held struct {
	shape      balance.Shape
	head       []uint32 // by place and node: a sample, or none
	planned    []uint32 // as head: how many
	next, prev []uint32 // by sample: neighbours in its list, or none
	count      []int
	farthest   []int
}

func newHeld(shape balance.Shape) held {
	h := held{
		shape: shape, head: make([]uint32, 2*shape.Steps*shape.Nodes), planned: make([]uint32, 2*shape.Steps*shape.Nodes),
		next: make([]uint32, shape.Samples), prev: make([]uint32, shape.Samples),
		count: make([]int, shape.Nodes), farthest: make([]int, shape.Nodes),
	}
	for i := range h.head {
		h.head[i] = none
	}
	return h
}

// clear forgets all; nothing will be needed before that time.
func (h *held) clear(time int) {
	for i := range h.head {
		h.head[i] = none
	}
	clear(h.planned)
	clear(h.count)
	for k := range h.farthest {
		h.farthest[k] = time
	}
}

func (h *held) place(k, time int) int { return time%(2*h.shape.Steps)*h.shape.Nodes + k }

// row is how many samples each node holds for that time.
func (h *held) row(time int) []uint32 { return h.planned[h.place(0, time):][:h.shape.Nodes] }

// most is how many a node may hold for that time.
func (h *held) most(time int) int { return h.shape.Most(h.shape.SlotsOf(time % h.shape.Steps)) }

func (h *held) add(k int, sample uint32, time int) {
	p := h.place(k, time)
	first := h.head[p]
	h.next[sample], h.prev[sample] = first, none
	if first != none {
		h.prev[first] = sample
	}
	h.head[p] = sample
	h.planned[p]++
	h.count[k]++
	h.farthest[k] = max(h.farthest[k], time)
}

func (h *held) remove(k int, sample uint32, time int) {
	p := h.place(k, time)
	next, prev := h.next[sample], h.prev[sample]
	if prev == none {
		h.head[p] = next
	} else {
		h.next[prev] = next
	}
	if next != none {
		h.prev[next] = prev
	}
	h.planned[p]--
	h.count[k]--
}

// last returns the time of the farthest next use of what node k holds, which must be something, and a sample that is needed then.
func (h *held) last(k int) (sample uint32, time int) {
	for h.head[h.place(k, h.farthest[k])] == none {
		h.farthest[k]--
	}
	return h.head[h.place(k, h.farthest[k])], h.farthest[k]
}

// room tells whether node k could take a sample for that time, letting one go that is needed later if need be.
func (h *held) room(k, time int) bool {
	if int(h.planned[h.place(k, time)]) >= h.most(time) {
		return false
	}
	if h.count[k] < h.shape.Buffer {
		return true
	}
	if h.count[k] == 0 {
		return false
	}
	_, farthest := h.last(k)
	return farthest > time
}
