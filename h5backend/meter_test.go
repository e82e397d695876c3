package h5backend

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"solarfs/storage"
)

// slowStore is a preader that reads nothing, in the time that a storage of that model takes: requests are served Depth at once, bytes come
// through one pipe.
type slowStore struct {
	storage.Model
	servers chan bool

	mu          sync.Mutex
	begun, pipe time.Time
}

func newSlowStore(m storage.Model) *slowStore {
	return &slowStore{Model: m, servers: make(chan bool, m.Depth)}
}

func (s *slowStore) Preadv(bufs [][]byte, _ int64) (int, error) {
	s.servers <- true
	defer func() { <-s.servers }()
	n := int(length(bufs))
	time.Sleep(time.Until(s.answer(n)))
	return n, nil
}

func (s *slowStore) answer(bytes int) time.Time {
	seconds := func(t float64) time.Duration { return time.Duration(t * float64(time.Second)) }
	later := func(a, b time.Time) time.Time {
		if a.After(b) {
			return a
		}
		return b
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	start := later(time.Now(), s.begun)
	if s.IOPS > 0 {
		s.begun = start.Add(seconds(1 / s.IOPS))
	}
	s.pipe = later(s.pipe, start.Add(seconds(s.Latency))).Add(seconds(float64(bytes) / s.Bandwidth))
	return s.pipe
}

// onStore is a contiguous field of 64 KiB samples on a preader.
func onStore(t *testing.T, p preader) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := openSource(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.file.Close() })
	src.data = p
	const size, rows = 64 << 10, 1 << 30
	return &Set{
		fields: []Field{{Bytes: size}}, first: []int{0}, total: rows,
		files: []*fileParts{{src: src, rows: rows, parts: []*part{{file: src, bytes: size, rows: rows, elem: 1}}}},
	}
}

// sweeps reads sorted samples at random, in calls of some thousand, and says how long that took.
func sweeps(r *Reader, density float64, calls int) time.Duration {
	began := time.Now()
	dst := make([]byte, 64<<10)
	random := rand.New(rand.NewPCG(1, 2))
	next := uint32(0)
	for range calls {
		reqs := make([]Request, 0, 4000)
		for ; len(reqs) < cap(reqs); next++ {
			if random.Float64() < density {
				reqs = append(reqs, Request{Sample: next, Dst: dst})
			}
		}
		r.Read(context.Background(), reqs)
	}
	return time.Since(began)
}

// A Reader finds gap and depth by itself, on storage that is not what it was told.
func TestReaderTunesItself(t *testing.T) {
	told := storage.Model{Latency: 2e-3, Depth: 16, Bandwidth: 400e6}
	for _, c := range []struct {
		name    string
		store   storage.Model
		density float64
		fixed   ReaderOptions // that are about best
		most    float64       // of its time
		depths  [2]int
	}{
		{"few requests", storage.Model{Latency: 2e-3, Depth: 64, IOPS: 500, Bandwidth: 200e6}, .2, ReaderOptions{Depth: 16, Gap: 4 * 64 << 10}, 1.15, [2]int{1, 16}},
		{"as told", storage.Model{Latency: 2e-3, Depth: 16, Bandwidth: 400e6}, .2, ReaderOptions{Depth: 16}, 1.05, [2]int{12, 24}},
		{"many at once", storage.Model{Latency: 2e-3, Depth: 64, Bandwidth: 4e9}, .05, ReaderOptions{Depth: 64, Gap: 5 * 64 << 10}, 1.15, [2]int{48, 64}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := onStore(t, newSlowStore(c.store))
				best := sweeps(s.NewReader(c.fixed), c.density, 20)
				r := s.NewReader(ReaderOptions{Depth: Auto, Gap: Auto, Model: told})
				first, then := sweeps(r, c.density, 20), sweeps(r, c.density, 20)
				t.Logf("%v, then %v of %v; gap %d, depth %d, %.4g", first, then, best, r.Gap(), r.Depth(), r.Speed())
				if then.Seconds() > c.most*best.Seconds() || r.Depth() < c.depths[0] || r.Depth() > c.depths[1] {
					t.Errorf("%v, %v with %+v; depth %d", then, best, c.fixed, r.Depth())
				}
			})
		})
	}
}

// What is not saturated tells nothing: gap and depth stay.
func TestIdleReaderLearnsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onStore(t, newSlowStore(storage.Model{Latency: 1, Depth: 64, Bandwidth: 1e6}))
		r := s.NewReader(ReaderOptions{Depth: Auto, Gap: Auto, Model: storage.Model{IOPS: 500, Bandwidth: 200e6}})
		for i := range uint32(300) {
			r.Read(t.Context(), []Request{{Sample: 20 * i, Dst: make([]byte, 64<<10)}})
		}
		if r.Gap() != 400000-64<<10 || r.Depth() != firstDepth || r.Speed() != (storage.Speed{Rate: 500, Bandwidth: 200e6}) {
			t.Errorf("gap %d, depth %d, %+v", r.Gap(), r.Depth(), r.Speed())
		}
	})
}

// A smaller depth holds at once for new reads, a larger one for those that wait.
func TestSlotsResize(t *testing.T) {
	s := newSlots(3, 5)
	var taken []*scratch
	take := func(n int) {
		for range n {
			one, err := s.take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			taken = append(taken, one)
		}
	}
	give := func(n int) {
		for range n {
			s.give(taken[0])
			taken = taken[1:]
		}
	}
	free := func(want int) {
		t.Helper()
		if len(s.free) != want {
			t.Fatalf("%d slots are free, not %d", len(s.free), want)
		}
	}
	take(3)
	s.resize(1)
	give(2)
	free(0)
	give(1)
	free(1)
	s.resize(5)
	free(5)
	take(4)
	s.resize(2)
	free(0)
	s.resize(4)
	give(4)
	free(4)
	if s.now() != 4 || s.made != 4 || len(s.spare) != 1 {
		t.Errorf("depth %d, %d made, %d spare", s.now(), s.made, len(s.spare))
	}
}
