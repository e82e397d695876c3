package storage

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"
)

// store is simulated storage: so many requests are served at once, each after the latency; their bytes come through one pipe, and no more than
// IOPS begin in a second. Depth is what it serves at once.
type store struct {
	Model
	noise float64 // each request takes up to this part more or less

	now, begun, pipe float64
	servers          times // when each is free
	under            answers
	random           *rand.Rand
}

type times []float64

// answer is the end of a request under way.
type answer struct{ at, bytes float64 }

type answers []answer

func (a answers) Len() int           { return len(a) }
func (a answers) Less(i, j int) bool { return a[i].at < a[j].at }
func (a answers) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *answers) Push(x any)        { *a = append(*a, x.(answer)) }
func (a *answers) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *times) Push(x any)        { *t = append(*t, x.(float64)) }
func (t *times) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

func newStore(m Model, noise float64) *store {
	return &store{Model: m, noise: noise, servers: make(times, m.Depth), random: rand.New(rand.NewPCG(5, 6))}
}

// send lets a request for bytes begin at once.
func (s *store) send(bytes float64) {
	start := max(s.now, s.servers[0], s.begun)
	if s.IOPS > 0 {
		s.begun = start + 1/s.IOPS
	}
	factor := 1 + s.noise*(2*s.random.Float64()-1)
	s.pipe = max(s.pipe, start+s.Latency*factor) + bytes/limit(s.Bandwidth)*factor
	s.servers[0] = s.pipe
	heap.Fix(&s.servers, 0)
	heap.Push(&s.under, answer{s.pipe, bytes})
}

// await lets the next request be answered.
func (s *store) await() (bytes float64) {
	a := heap.Pop(&s.under).(answer)
	s.now = a.at
	return a.bytes
}

// reader reads samples of a store as h5backend does.
type reader struct {
	*store
	tuner  *Tuner // nil: setting is fixed
	fixed  Setting
	warm   int // answers until the block begins
	block  Block
	began  float64
	gaps   []int64
	depths []int
}

func (r *reader) setting() Setting {
	if r.tuner == nil {
		return r.fixed
	}
	return r.tuner.Setting()
}

// sweep reads the samples, sorted, of size bytes each.
func (r *reader) sweep(samples []int, size float64) {
	for len(samples) > 0 {
		n := 1
		gap := float64(r.setting().Gap)
		for n < len(samples) && float64(samples[n]-samples[n-1]-1)*size <= gap && float64(samples[n]-samples[0]+1)*size <= 1<<20 {
			n++
		}
		r.request(float64(samples[n-1]-samples[0]+1) * size)
		samples = samples[n:]
	}
}

// request sends one as soon as there are fewer under way than the depth.
func (r *reader) request(bytes float64) {
	for len(r.under) >= r.setting().Depth {
		r.answered(r.await())
	}
	r.send(bytes)
}

// answered counts blocks, each of requests that were all sent with one depth.
func (r *reader) answered(bytes float64) {
	if r.tuner == nil {
		return
	}
	r.block.Requests++
	r.block.Bytes += bytes
	if r.warm > 0 {
		if r.warm--; r.warm == 0 {
			r.began, r.block = r.now, Block{}
		}
		return
	}
	before := r.setting()
	if r.block.Requests < float64(max(64, 4*before.Depth)) {
		return
	}
	r.block.Seconds = r.now - r.began
	r.tuner.Observe(r.block)
	r.gaps, r.depths = append(r.gaps, r.setting().Gap), append(r.depths, r.setting().Depth)
	r.began, r.block = r.now, Block{}
	if r.setting().Differs(before) {
		r.warm = r.setting().Depth
	}
}

// draw gives about n of the samples of a large file, sorted; each is needed with probability density.
func draw(n int, density float64, seed uint64) (out []int) {
	r := rand.New(rand.NewPCG(seed, 9))
	for i := 0; len(out) < n; i++ {
		if r.Float64() < density {
			out = append(out, i)
		}
	}
	return out
}

func (r *reader) seconds(samples []int, size float64) float64 {
	before := r.now
	r.sweep(samples, size)
	return r.now - before
}

// fastest is the least time over all gaps, at a fixed depth.
func fastest(m Model, noise float64, depth int, samples []int, size float64) (best float64, gap int64) {
	best = math.Inf(1)
	for g := int64(0); g <= MaxGap; g += max(int64(size), g/8) {
		r := &reader{store: newStore(m, noise), fixed: Setting{g, depth}}
		if t := r.seconds(samples, size); t < best {
			best, gap = t, g
		}
	}
	return best, gap
}

var (
	farStore  = Model{Latency: 2e-3, Depth: 16, Bandwidth: 400e6}
	iopsStore = Model{Latency: 2e-3, Depth: 64, IOPS: 500, Bandwidth: 200e6}
	pageCache = Model{Latency: 2e-6, Depth: 2, Bandwidth: 8e9}
)

const sampleSize = 64 << 10

// Whatever the plan says of the storage, the gap that is found takes hardly longer than the best one.
func TestTunerFindsGap(t *testing.T) {
	for _, m := range []Model{farStore, iopsStore, pageCache} {
		for _, noise := range []float64{0, .1} {
			for _, density := range []float64{.05, .1, .2, .5} {
				samples := draw(50000, density, 1)
				best, gap := fastest(m, noise, 16, samples, sampleSize)
				for _, plan := range []Model{farStore, iopsStore, {IOPS: 1e6, Bandwidth: 1e9}} {
					r := &reader{store: newStore(m, noise), warm: 16, tuner: NewTuner(Tuning{Model: plan, Start: Setting{plan.Gap(0), 16}, FixedDepth: true})}
					first := r.seconds(samples, sampleSize) / best
					then := (r.seconds(samples, sampleSize) + r.seconds(samples, sampleSize)) / 2 / best
					t.Logf("%+v, noise %v, density %v, planned for %+v: %.3f, then %.3f of the time with %d; at the end %+v, %.4g", m, noise, density, plan, first, then, gap, r.setting(), r.tuner.Speed())
					if first > 1.35 || then > 1.1 {
						t.Errorf("%+v, density %v, planned for %+v: %.3f, then %.3f of the best gap's time", m, density, plan, first, then)
					}
				}
			}
		}
	}
}

// The depth ends at the knee.
func TestTunerFindsDepth(t *testing.T) {
	for _, c := range []struct {
		name        string
		store       Model
		fixedGap    bool
		least, most int
	}{
		{"16 at once", Model{Latency: 2e-3, Depth: 16, Bandwidth: 10e9}, false, 12, 24},
		{"16 at once, bytes soon decide", farStore, false, 8, 24},
		{"8 fill the bandwidth", Model{Latency: 2e-3, Depth: 64, Bandwidth: 8 * sampleSize / 2.2e-3}, false, 6, 16},
		{"8 fill the bandwidth", Model{Latency: 2e-3, Depth: 64, Bandwidth: 8 * sampleSize / 2.2e-3}, true, 8, 16},
		{"64 at once", Model{Latency: 2e-3, Depth: 64, Bandwidth: 10e9}, false, 48, 64},
		{"64 at once", Model{Latency: 2e-3, Depth: 64, Bandwidth: 10e9}, true, 48, 64},
		{"page cache", pageCache, false, 1, 6},
	} {
		for _, noise := range []float64{0, .1, .3} {
			for _, density := range []float64{.05, .5} {
				samples := draw(60000, density, 2)
				r := &reader{store: newStore(c.store, noise), warm: 16, tuner: NewTuner(Tuning{Model: farStore, Start: Setting{farStore.Gap(0), 16}, FixedGap: c.fixedGap, MaxDepth: MaxDepth})}
				r.sweep(samples, sampleSize)
				r.depths = nil
				r.sweep(samples, sampleSize)
				outside := 0
				for _, d := range r.depths {
					if d < c.least || d > c.most {
						outside++
					}
				}
				if outside*10 > len(r.depths) {
					t.Errorf("%s, noise %v, density %v: %d of %d blocks were read at a depth outside %d..%d: %v", c.name, noise, density, outside, len(r.depths), c.least, c.most, r.depths)
				}
			}
		}
	}
}

// While something else takes the time no gaps are read over, and again when requests do.
func TestTunerSpare(t *testing.T) {
	tuner := NewTuner(Tuning{Model: iopsStore, Start: Setting{400000, 16}, MaxDepth: MaxDepth, FixedDepth: true})
	for range 60 {
		tuner.Spare()
	}
	if s := tuner.Setting(); s.Gap != 0 {
		t.Errorf("%+v", s)
	}
	r := &reader{store: newStore(iopsStore, .1), warm: 16, tuner: tuner}
	r.sweep(draw(20000, .2, 1), sampleSize)
	if s := tuner.Setting(); s.Gap < 2*sampleSize {
		t.Errorf("%+v", s)
	}
}

// Whatever the blocks say, the settings stay within bounds, what is fixed stays, and the speeds are numbers.
func TestTunerRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	some := func() float64 {
		switch random.IntN(20) {
		case 0:
			return 0
		case 1:
			return math.Inf(1 - 2*random.IntN(2))
		case 2:
			return math.NaN()
		}
		return math.Exp(40*random.Float64() - 20)
	}
	for range 300 {
		start := Setting{random.Int64N(MaxGap + 1), 1 + random.IntN(MaxDepth)}
		o := Tuning{Start: start, FixedGap: random.IntN(2) == 0, FixedDepth: random.IntN(2) == 0, MaxDepth: 1 + random.IntN(MaxDepth)}
		if random.IntN(2) == 0 {
			o.Model = farStore
		}
		tuner := NewTuner(o)
		for range 300 {
			s := tuner.Setting()
			switch {
			case o.FixedGap && s.Gap != start.Gap || s.Gap < 0 || s.Gap > MaxGap,
				o.FixedDepth && s.Depth != start.Depth, !o.FixedDepth && (s.Depth < 1 || s.Depth > o.MaxDepth):
				t.Fatalf("%+v: %+v", o, s)
			}
			tuner.Observe(Block{Demand{some(), some()}, some()})
			if random.IntN(10) == 0 {
				tuner.Spare()
			}
			if v := tuner.Speed(); !(v.Rate > 0 && v.Bandwidth > 0) {
				t.Fatalf("%+v: %+v", o, v)
			}
		}
	}
}

func BenchmarkTuner(b *testing.B) {
	tuner := NewTuner(Tuning{Model: farStore, Start: Setting{50000, 16}, MaxDepth: MaxDepth})
	for i := 0; b.Loop(); i++ {
		tuner.Observe(Block{Demand{64, float64(64 * sampleSize * (1 + i%3))}, .01})
	}
}
