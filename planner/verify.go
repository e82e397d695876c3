package planner

import (
	"fmt"
	"math"
	"reflect"
	"slices"
)

// Verify is the certificate of a plan: it makes the plan and executes it on simulated buffers, epoch by epoch, with nothing
// but the batches, fates and drops to go by. It checks that
//
//   - each epoch is torch's sequence: each global batch holds the samples that torch's holds, every node's in torch's order;
//   - the batches of a step are equal over the ranks, or within MaxImbalance, and the weights n_rank*ranks/n_global sum to the rank count;
//   - each hit is in the buffer of the node that processes it at that time, and what is read from a peer in another's; what is dropped
//     or leaves was there; what enters was not; a rider's chunk is read in that step by that node;
//   - a repeat (padding) is a load and is never kept; in the last epoch nothing is kept;
//   - no buffer exceeds its size;
//   - loads, hits, repeats, drops and the bound are counted right, and the loads are not under the bound.
//
// The error names epoch, step, node and sample. Memory: some 50 bytes per sample in a buffer.
func Verify(spec Spec) error {
	schedule, err := NewSchedule(spec)
	if err != nil {
		return err
	}
	v := newVerifier(spec)
	for e, ok := schedule.Next(); ok; e, ok = schedule.Next() {
		if err := v.epoch(e); err != nil {
			return err
		}
	}
	if v.next != spec.Epochs {
		return fmt.Errorf("the plan has %d epochs, not %d", v.next, spec.Epochs)
	}
	return nil
}

type set map[uint32]struct{}

func (s set) has(sample uint32) bool { _, ok := s[sample]; return ok }

// verifier carries the buffers from epoch to epoch.
type verifier struct {
	spec    Spec
	next    int // the epoch expected
	buffers []set
	ever    set // used in an earlier epoch
	// of the epoch being verified:
	used set
	got  EpochStats
}

func newVerifier(spec Spec) *verifier {
	v := &verifier{spec: spec, buffers: make([]set, spec.Nodes), ever: set{}}
	for k := range v.buffers {
		v.buffers[k] = set{}
	}
	return v
}

func (v *verifier) epoch(e *Epoch) error {
	if e.Index != v.next {
		return fmt.Errorf("epoch %d follows where epoch %d should", e.Index, v.next)
	}
	v.used, v.got = set{}, EpochStats{}
	order := v.spec.EpochOrder(e.Index)
	for step := range v.spec.Steps() {
		n := v.spec.Rows(step) * v.spec.Ranks()
		if err := v.step(e, step, order[:n]); err != nil {
			return fmt.Errorf("epoch %d, step %d, %w", e.Index, step, err)
		}
		order = order[n:]
	}
	if len(order) != 0 {
		return fmt.Errorf("epoch %d: %d samples of the order are in no step", e.Index, len(order))
	}
	if err := v.counts(e); err != nil {
		return fmt.Errorf("epoch %d: %w", e.Index, err)
	}
	v.next++
	return nil
}

// step verifies the batches of one step on all nodes. The error goes on from "epoch .., step .., ".
func (v *verifier) step(e *Epoch, step int, global []uint32) error {
	left := map[uint32]int{} // of the global batch: what no rank has yet
	for _, s := range global {
		left[s]++
	}
	regular := set{} // samples whose use in this step is a hit or kept
	if err := v.weights(e, step, len(global)); err != nil {
		return err
	}
	for node := range v.spec.Nodes {
		if err := v.node(e, step, node, global, left, regular); err != nil {
			return fmt.Errorf("node %d: %w", node, err)
		}
	}
	for _, s := range global {
		if left[s] > 0 {
			return fmt.Errorf("no node: sample %d of torch's global batch is in no rank's batch", s)
		}
		v.used[s] = struct{}{}
	}
	return nil
}

// node verifies and executes one node's part of a step.
func (v *verifier) node(e *Epoch, step, node int, global []uint32, left map[uint32]int, regular set) error {
	samples, fates := nodeBatch(e, step, node)
	for i, s := range samples {
		if left[s]--; left[s] < 0 {
			return fmt.Errorf("sample %d is not in torch's global batch, or more often than there", s)
		}
		at := slices.Index(global, s)
		if at < 0 {
			return fmt.Errorf("sample %d is not in the order of torch's global batch", s)
		}
		global = global[at+1:]
		if err := v.use(e, node, s, fates[i], regular); err != nil {
			return err
		}
	}
	if err := v.riders(e, step, node, samples, fates); err != nil {
		return err
	}
	return v.move(node, samples, fates, e.Drops(step, node), e.Riders(step, node))
}

// weights verifies the sizes of a step's batches.
func (v *verifier) weights(e *Epoch, step, global int) error {
	share := float64(v.spec.Rows(step))
	sum := 0.0
	for rank := range v.spec.Ranks() {
		rows := float64(e.Rows(step, rank))
		if math.Abs(rows-share) > share*v.spec.MaxImbalance+1e-6 || rows < 1 {
			return fmt.Errorf("rank %d: a batch of %v where %v is the equal share and %v of it the most imbalance", rank, rows, share, v.spec.MaxImbalance)
		}
		sum += e.Weight(step, rank)
	}
	if math.Abs(sum-float64(v.spec.Ranks())) > 1e-9*float64(v.spec.Ranks()) {
		return fmt.Errorf("the weights sum to %v, not to the number of ranks, for %d samples", sum, global)
	}
	return nil
}

// nodeBatch puts the batches of a node's ranks together, in the order of the global batch.
func nodeBatch(e *Epoch, step, node int) (samples []uint32, fates []Fate) {
	ranks := e.spec.RanksPerNode
	var n int
	for local := range ranks {
		n += e.Rows(step, node*ranks+local)
	}
	samples, fates = make([]uint32, n), make([]Fate, n)
	for local := range ranks {
		s, f := e.Batch(step, node*ranks+local)
		for row := range s {
			samples[row*ranks+local], fates[row*ranks+local] = s[row], f[row]
		}
	}
	return samples, fates
}

// use verifies the fate of one sample of a node's batch against the buffer as it is when the batch is made.
func (v *verifier) use(e *Epoch, node int, s uint32, fate Fate, regular set) error {
	switch {
	case fate&Load != 0:
		v.got.Loads++
	case fate&Remote != 0:
		v.got.Remote++
		if !slices.ContainsFunc(v.buffers, func(b set) bool { return b.has(s) }) || v.buffers[node].has(s) {
			return fmt.Errorf("sample %d is read from a peer, but no peer holds it, or the node itself does", s)
		}
	default:
		v.got.Hits++
		if !v.buffers[node].has(s) {
			return fmt.Errorf("sample %d is a hit, but not in the buffer", s)
		}
	}
	if fate&Keep != 0 {
		v.got.Kept++
		if e.Index == v.spec.Epochs-1 {
			return fmt.Errorf("sample %d is kept in the last epoch", s)
		}
	}
	if fate == Load || fate == Remote {
		return nil
	}
	if v.used.has(s) || regular.has(s) {
		return fmt.Errorf("sample %d is a hit or is kept though this epoch has used it already", s)
	}
	regular[s] = struct{}{}
	return nil
}

// riders verifies that a node reads the chunk of each of its riders in that step.
func (v *verifier) riders(e *Epoch, step, node int, samples []uint32, fates []Fate) error {
	riders := e.Riders(step, node)
	if len(riders) == 0 {
		return nil
	}
	size := uint32(v.spec.Chunk)
	read := set{}
	for i, s := range samples {
		if fates[i]&Load != 0 {
			read[s/size] = struct{}{}
		}
	}
	for _, r := range riders {
		if !read.has(r / size) {
			return fmt.Errorf("sample %d is kept from a chunk that no load of the step reads", r)
		}
		v.got.Loads++
		v.got.Riders++
	}
	return nil
}

// move lets samples leave and enter the buffer, in the order in which a node does it.
func (v *verifier) move(node int, samples []uint32, fates []Fate, drops, riders []uint32) error {
	buffer, riders := v.buffers[node], slices.Clone(riders)
	for _, s := range drops {
		if !buffer.has(s) || usedFromBuffer(samples, fates, s) {
			return fmt.Errorf("sample %d is dropped, but is not in the buffer or is used from it", s)
		}
		v.got.Drops++
		delete(buffer, s)
	}
	for i, s := range samples {
		if fates[i] == 0 {
			delete(buffer, s)
		}
	}
	for i, s := range samples {
		if fates[i] == Load|Keep || fates[i] == Remote|Keep {
			riders = append(riders, s)
		}
	}
	for _, s := range riders {
		if buffer.has(s) {
			return fmt.Errorf("sample %d enters the buffer, but is there already", s)
		}
		buffer[s] = struct{}{}
	}
	if len(buffer) > v.spec.BufferSamples {
		return fmt.Errorf("the buffer holds %d samples, its size is %d (seen at sample %d)", len(buffer), v.spec.BufferSamples, samples[0])
	}
	return nil
}

// usedFromBuffer tells whether a batch takes the sample from the buffer; a repeat is read anew.
func usedFromBuffer(samples []uint32, fates []Fate, s uint32) bool {
	for i, other := range samples {
		if other == s && fates[i] != Load {
			return true
		}
	}
	return false
}

// counts compares the figures of an epoch with those of its execution.
func (v *verifier) counts(e *Epoch) error {
	fresh := 0
	for s := range v.used {
		if !v.ever.has(s) {
			fresh++
			v.ever[s] = struct{}{}
		}
	}
	got, want := v.got, e.Stats()
	if v.spec.Chunk > 1 && e.Index > 0 {
		fresh = 0 // it may have ridden along before
	}
	got.Padded = v.spec.Positions() - len(v.used)
	got.Bound = max(len(v.used)-min(v.spec.Samples, v.spec.Nodes*min(v.spec.BufferSamples, v.spec.Samples)), fresh)
	got.Forced = got.Loads - got.Padded - got.Bound
	want.StorageReads, want.LeftOut, want.Busiest, want.Busiest16, want.MaxBatch, want.MinBatch = nil, 0, 0, 0, 0, 0
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("the plan states %+v, its execution gives %+v", want, got)
	}
	if got.Forced < 0 {
		return fmt.Errorf("%d loads are fewer than the bound, %d", got.Loads-got.Padded, got.Bound)
	}
	return nil
}
