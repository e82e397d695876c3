package cache

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"solarfs/h5backend"
	"solarfs/planner"
)

// ridingSpec draws jobs whose chunks hold several samples.
func ridingSpec(rng *rand.Rand) planner.Spec {
	s := planner.Spec{
		Samples: 60 + rng.IntN(400), Nodes: 1 + rng.IntN(3), RanksPerNode: 1 + rng.IntN(2), BatchSize: 1 + rng.IntN(9), Epochs: 2 + rng.IntN(3),
		Seed: rng.Int64(), Order: planner.OrderTorch, Chunk: 2 + rng.IntN(14), DropLast: rng.IntN(3) == 0,
	}
	s.BufferSamples = 1 + rng.IntN(s.Samples/s.Nodes)
	if rng.IntN(2) == 0 {
		s.MaxImbalance = .4
	}
	if rng.IntN(4) == 0 {
		s.Order, s.BlockChunks = planner.OrderBlock, 1+rng.IntN(4)
	}
	return s
}

// fate counts what happens to riders of one node: that they ride again after
// they have left unused, that they do so in the very step, that a hit finds them.
type fate struct{ riders, again, atOnce, hits int }

func (r *rig) fates() (f fate) {
	left, rode := map[uint32]int{}, map[uint32]bool{}
	for _, ep := range r.plan {
		for step := range r.spec.Steps() {
			g := ep.Index*r.spec.Steps() + step
			for local := range r.spec.RanksPerNode {
				samples, fates := ep.Batch(step, r.node*r.spec.RanksPerNode+local)
				for i, sample := range samples {
					if rode[sample] && fates[i]&planner.Load == 0 {
						f.hits++
						delete(rode, sample)
					}
				}
			}
			for _, sample := range ep.Drops(step, r.node) {
				if rode[sample] {
					left[sample] = g
					delete(rode, sample)
				}
			}
			for _, sample := range ep.Riders(step, r.node) {
				if at, dropped := left[sample]; dropped {
					f.again++
					if at == g {
						f.atOnce++
					}
				}
				f.riders++
				rode[sample] = true
			}
		}
	}
	return f
}

// Riders are found by the hits that they are for: storage is asked for the plan's loads and nothing else.
func TestRidersFollowThePlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	var seen fate
	for range 80 {
		spec := ridingSpec(rng)
		node, span := rng.IntN(spec.Nodes), 2+rng.IntN(10)
		synctest.Test(t, func(t *testing.T) {
			r := newRigOf(t, node, spec, int64(span)*StepBytes(spec, testFields)+1<<17, &source{delay: time.Millisecond})
			defer r.close()
			r.checkNode()
			r.followsPlan()
			f := r.fates()
			seen = fate{seen.riders + f.riders, seen.again + f.again, seen.atOnce + f.atOnce, seen.hits + f.hits}
		})
	}
	t.Logf("%+v", seen)
	if seen.riders == 0 || seen.again == 0 || seen.hits == 0 {
		t.Errorf("the plans have %+v", seen)
	}
}

// A rider is read in the call that its chunk is read in, and what steps share of a chunk is read together where one call brings both: no
// more chunks are read than the plan says.
func TestRidersComeWithTheirChunk(t *testing.T) {
	spec := planner.Spec{Samples: 300, Nodes: 1, RanksPerNode: 2, BatchSize: 5, Epochs: 3, Chunk: 6, ChunkSamples: []int{6, 6}, BufferSamples: 120}
	synctest.Test(t, func(t *testing.T) {
		var read atomic.Int64
		src := &source{each: func(reqs []h5backend.Request) { read.Add(int64(chunksOf(reqs, spec.Chunk))) }}
		r := newRig(t, spec, 10, src)
		defer r.close()
		r.checkNode()
		r.followsPlan()
		planned := 0
		for _, ep := range r.plan {
			planned += ep.Stats().StorageReads[0]
		}
		if int(read.Load()) > planned || planned == 0 {
			t.Errorf("%d chunks are read, the plan says %d", read.Load(), planned)
		}
	})
}

// chunksOf is how many chunks a call reads.
func chunksOf(reqs []h5backend.Request, chunk int) int {
	chunks := map[uint32]bool{}
	for _, q := range reqs {
		chunks[q.Sample/uint32(chunk)] = true
	}
	return len(chunks)
}

// With too little memory for riders, or none, all is read all the same: what has
// not ridden is a load when it is due.
func TestNoRoomForRiders(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	missed := int64(0)
	for range 30 {
		spec := ridingSpec(rng)
		node, room := rng.IntN(spec.Nodes), rng.IntN(2)*rng.IntN(20)
		synctest.Test(t, func(t *testing.T) {
			r := newRigOf(t, node, spec, StepBytes(spec, testFields)+int64(room*32), &source{delay: time.Millisecond})
			defer r.close()
			r.checkNode()
			want, st := r.planned(), r.Status()
			missed += st.RidersMissed
			if st.Strays != 0 || st.Riders+st.RidersMissed != want.Riders || st.Hits+st.Loads-st.Riders != want.Hits+want.Loads-want.Riders {
				t.Errorf("%+v: %+v; the plan has %+v", spec, st, want)
			}
			if st.Memory.Ahead > int64(room*32) || r.src.loads.Load() != st.Loads*int64(len(testFields)) {
				t.Errorf("%+v: %d reads", st, r.src.loads.Load())
			}
		})
	}
	if missed == 0 {
		t.Error("all riders found room")
	}
}

// A rider that cannot be read costs no batch: it is read again when it is due.
func TestRidersThatFail(t *testing.T) {
	spec := planner.Spec{Samples: 300, Nodes: 1, RanksPerNode: 1, BatchSize: 8, Epochs: 3, Chunk: 6, BufferSamples: 120}
	synctest.Test(t, func(t *testing.T) {
		riders := map[uint32]bool{} // those whose first read is a ride
		var mu sync.Mutex
		src := &source{delay: time.Millisecond, fail: func(sample uint32, field int) error {
			mu.Lock()
			defer mu.Unlock()
			if riders[sample] && field == int(sample%2) {
				delete(riders, sample)
				return errDisk
			}
			return nil
		}}
		mu.Lock() // until it is known what is to fail
		r := newRig(t, spec, 6, src)
		defer r.close()
		read := map[uint32]bool{}
		for step := range spec.Steps() {
			samples, _ := r.plan[0].Batch(step, 0)
			for _, sample := range samples {
				read[sample] = true
			}
			for _, sample := range r.plan[0].Riders(step, 0) {
				riders[sample] = riders[sample] || !read[sample] && sample%3 == 0
				read[sample] = true
			}
		}
		fails := 0
		for _, bad := range riders {
			if bad {
				fails++
			}
		}
		mu.Unlock()
		r.checkNode()
		st := r.Status()
		if want := r.planned().Riders; fails < 10 || st.RidersMissed < 10 || st.Riders+st.RidersMissed != want || st.Strays != 0 || len(st.Errors) == 0 {
			t.Errorf("%d of %d riders fail; %+v", fails, want, st)
		}
	})
}

// A rider from a file that has changed ends the reading, as a load does.
func TestStaleRider(t *testing.T) {
	spec := planner.Spec{Samples: 300, Nodes: 1, RanksPerNode: 1, BatchSize: 8, Epochs: 3, Chunk: 6, BufferSamples: 120}
	synctest.Test(t, func(t *testing.T) {
		src := &source{delay: time.Millisecond}
		src.each = func(reqs []h5backend.Request) {
			if len(reqs) > 8*len(testFields) {
				reqs[len(reqs)-1].Err = ErrStale
			}
		}
		r := newRig(t, spec, 6, src)
		defer r.close()
		for step := range spec.Steps() {
			h, err := r.Open(context.Background(), BatchID{Step: step})
			if errors.Is(err, ErrStale) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			h.Close()
		}
		t.Error("nobody was told")
	})
}
