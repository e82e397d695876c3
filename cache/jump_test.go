package cache

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"solarfs/planner"
)

// anySpec draws jobs of every strategy, with and without chunks and uneven
// batches, on several nodes.
func anySpec(rng *rand.Rand) planner.Spec {
	for {
		s := ridingSpec(rng)
		if rng.IntN(2) == 0 {
			s = unevenSpec(rng)
		}
		s.Strategy = planner.Strategies()[rng.IntN(len(planner.Strategies()))]
		if s.Validate() == nil {
			return s
		}
	}
}

// executed is what the node's buffer holds before step t of an epoch, by a plain
// execution of the plan: hits without Keep and drops leave, then loads with Keep
// and riders enter.
func executed(t testing.TB, spec planner.Spec, node, epoch, until int) map[uint32]bool {
	t.Helper()
	schedule, err := planner.NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	buffer := map[uint32]bool{}
	for range epoch + 1 {
		ep, _ := schedule.Next()
		for step := 0; step < spec.Steps() && (ep.Index < epoch || step < until); step++ {
			var enter []uint32
			for local := range spec.RanksPerNode {
				samples, fates := ep.Batch(step, node*spec.RanksPerNode+local)
				for i, sample := range samples {
					switch fates[i] {
					case 0:
						delete(buffer, sample)
					case planner.Load | planner.Keep, planner.Remote | planner.Keep:
						enter = append(enter, sample)
					}
				}
			}
			for _, sample := range ep.Drops(step, node) {
				delete(buffer, sample)
			}
			for _, sample := range append(enter, ep.Riders(step, node)...) {
				buffer[sample] = true
			}
		}
	}
	return buffer
}

// Wherever the readers go, the buffer becomes what the plan has in it there: all
// of it that was held, and nothing else.
func TestBufferAfterAJump(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for range 150 {
		spec := anySpec(rng)
		node, epoch, at := rng.IntN(spec.Nodes), rng.IntN(spec.Epochs), rng.IntN(spec.Steps())
		buffer, err := newBuffer(spec.Samples, 0, testFields)
		if err != nil {
			t.Fatal(err)
		}
		held := map[uint32]bool{} // all samples but some
		for sample := range uint32(spec.Samples) {
			if rng.IntN(5) > 0 {
				held[sample] = buffer.enter(sample, [][]byte{value(0, sample), value(1, sample)})
			}
		}
		c := &Cache{
			cfg:    Config{Spec: spec, Node: node, Log: slog.New(slog.NewTextHandler(io.Discard, nil))},
			epochs: newEpochs(spec, node, nil, resumer(t, spec, rng.IntN(3))), stepsPerEpoch: spec.Steps(), buffer: buffer,
		}
		epochs, planned := make(chan *planner.Epoch, spec.Epochs), newSampleSet(spec.Samples)
		if err := c.walk(t.Context(), epoch, planned, epochs); err != nil {
			t.Fatal(err)
		}
		after := c.keepPlanned(<-epochs, at, planned)
		want := executed(t, spec, node, epoch, at)
		maps.DeleteFunc(want, func(sample uint32, _ bool) bool { return !held[sample] })
		got := map[uint32]bool{}
		buffer.samples(func(sample uint32) { got[sample] = after.has(sample) })
		if !maps.Equal(got, want) || after.n != len(want) {
			t.Errorf("%+v, node %d, epoch %d, step %d: %v are held (%d), not %v", spec, node, epoch, at,
				slices.Sorted(maps.Keys(got)), after.n, slices.Sorted(maps.Keys(want)))
		}
		buffer.close()
	}
}

// resumer resumes plans from every so many epochs; nil where that is 0 or the strategy cannot.
func resumer(t *testing.T, spec planner.Spec, every int) func(int) *planner.Schedule {
	t.Helper()
	walk, err := planner.NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	if every == 0 || walk.Owners() == nil {
		return nil
	}
	owners := map[int][]uint16{}
	for _, more := walk.Next(); more && walk.Epoch() < spec.Epochs; _, more = walk.Next() {
		if walk.Epoch()%every == 0 {
			owners[walk.Epoch()] = slices.Clone(walk.Owners())
		}
	}
	return func(epoch int) *planner.Schedule {
		for ; epoch > 0; epoch-- {
			if known := owners[epoch]; known != nil {
				s, err := planner.Resume(spec, epoch, known)
				if err != nil {
					t.Error(err)
				}
				return s
			}
		}
		return nil
	}
}

// A plan that is asked for on request is resumed from the snapshot before it, not made from its start.
func TestPlansOnRequestAreResumed(t *testing.T) {
	spec := planner.Spec{Samples: 200, Nodes: 2, RanksPerNode: 1, BatchSize: 5, Epochs: 30, Order: planner.OrderTorch, BufferSamples: 40}
	from := []int{}
	resume := resumer(t, spec, 10)
	e := newEpochs(spec, 1, nil, func(epoch int) *planner.Schedule {
		s := resume(epoch)
		if s != nil {
			from = append(from, s.Epoch())
		}
		return s
	})
	whole := newEpochs(spec, 1, nil, nil)
	for _, i := range []int{25, 27, 8, 12} {
		got, err := e.get(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.get(t.Context(), i)
		if err != nil || got.Digest() != want.Digest() {
			t.Errorf("epoch %d is another when resumed (%v)", i, err)
		}
	}
	if !slices.Equal(from, []int{20, 10}) { // 27 is near 25; before 8 there is none; 12 is nearer to 10 than to 8
		t.Errorf("resumed at %v", from)
	}
}

// Readers that go to and fro in a plan with riders, drops and uneven batches get
// the right bytes; the buffer never overflows (rig.close looks for that).
func TestJumpsInAnyPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	jumps := 0
	for range 40 {
		spec := anySpec(rng)
		spec.Epochs += 2
		node := rng.IntN(spec.Nodes)
		synctest.Test(t, func(t *testing.T) {
			r := newRigOf(t, node, spec, 3*StepBytes(spec, testFields)+1<<14, &source{delay: time.Millisecond})
			defer r.close()
			for range 4 {
				g := rng.IntN(spec.Epochs * spec.Steps())
				for end := min(g+3+rng.IntN(20), spec.Epochs*spec.Steps()); g < end; g++ {
					for rank := range spec.RanksPerNode {
						for field := range testFields {
							r.check(BatchID{g / spec.Steps(), g % spec.Steps(), node*spec.RanksPerNode + rank, field})
						}
					}
				}
			}
			synctest.Wait()
			jumps += bytes.Count(r.log.Bytes(), []byte("have moved"))
		})
	}
	if jumps < 20 {
		t.Errorf("the window has moved %d times", jumps)
	}
}

// A plan that the read-ahead is making is waited for; one that is not costs no
// place among those that it has made; who has left does not wait.
func TestPlansOnRequest(t *testing.T) {
	spec := planner.Spec{Samples: 200, Nodes: 2, RanksPerNode: 1, BatchSize: 5, Epochs: 9, Order: planner.OrderTorch}
	synctest.Test(t, func(t *testing.T) {
		e := newEpochs(spec, 1, nil, nil)
		schedule, err := planner.NewSchedule(spec)
		if err != nil {
			t.Fatal(err)
		}
		walked := func() { // the walk expects nothing more until the plan is taken, for which it may have to wait
			ep, _ := schedule.Next()
			e.keep(ep, schedule)
		}
		e.expect(0)
		time.AfterFunc(time.Hour, walked)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := e.get(ctx, 0); err != context.DeadlineExceeded {
			t.Errorf("who has left waits: %v", err)
		}
		if _, err := e.get(t.Context(), 0); err != nil || e.walk != nil {
			t.Errorf("the first epoch is planned twice (%v)", err)
		}
		for range 3 {
			walked()
		}
		for _, i := range []int{8, 3, 5, 2, 1} {
			ep, err := e.get(t.Context(), i)
			if err != nil || ep.Index != i {
				t.Fatalf("epoch %d: %v, %v", i, ep, err)
			}
		}
		if next := e.walk.Epoch(); next != 6 { // up to 8, and anew up to 5
			t.Errorf("epoch %d is planned next on request", next)
		}
		for i := 1; i < 4; i++ {
			if ep, _ := e.known(i); ep == nil {
				t.Errorf("the read-ahead's epoch %d has been given up", i)
			}
		}
	})
}
