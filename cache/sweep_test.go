package cache

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawn are the loads of steps of per loads each, of samples drawn at random, epoch by epoch each at most once.
func drawn(rng *rand.Rand, samples, per, epochs int, share float64) []item {
	var out []item
	var s *step
	for range epochs {
		for _, sample := range rng.Perm(samples) {
			if rng.Float64() >= share {
				continue
			}
			if s == nil || len(s.loads) == per {
				s = &step{g: len(out) / per, loads: make([]load, 0, per)}
			}
			s.loads = append(s.loads, load{sample: uint32(sample)})
			out = append(out, item{s, &s.loads[len(s.loads)-1]})
		}
	}
	return out
}

// sweeps calls each for every sweep over loads that are due in parts of per.
func sweeps(loads []item, per int, each func(from int, sweep []item)) {
	var w sweeper
	for from := 0; from < len(loads) || len(w.carry) > 0; from += per {
		due := loads[min(from, len(loads)):min(from+per, len(loads))]
		each(from, w.next(due, false))
	}
}

// Each load is read once, in the order of the file within a sweep, and no later than in the sweep after the one that it comes up in.
func TestSweeps(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for range 200 {
		loads := drawn(rng, 1+rng.IntN(300), 1+rng.IntN(20), 1+rng.IntN(3), .7)
		per := 1 + rng.IntN(100)
		number := map[*load]int{}
		for n, it := range loads {
			number[it.load] = n
		}
		read := map[*load]bool{}
		sweeps(loads, per, func(from int, sweep []item) {
			if !slices.IsSortedFunc(sweep, func(a, b item) int { return int(a.sample) - int(b.sample) }) {
				t.Fatal("a sweep is not in the order of the file")
			}
			for _, it := range sweep {
				n := number[it.load]
				if n < from-per || n >= from+per || it.taken {
					t.Fatalf("load %d is in the sweep from %d on, of %d", n, from, per)
				}
				if it.later {
					continue
				}
				it.take()
				read[it.load] = true
			}
		})
		if len(read) != len(loads) {
			t.Fatalf("%d of %d loads are read", len(read), len(loads))
		}
	}
}

// A sweep of twice the loads that memory has room for needs that room and not much more: half a sweep's loads are in memory in
// the mean.
func TestSweepMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	loads := drawn(rng, 100000, 16, 2, .5)
	const per = 8000
	number := map[*load]int{}
	for n, it := range loads {
		number[it.load] = n
	}
	read, most := 0, 0
	var order []int
	sweeps(loads, per, func(_ int, sweep []item) {
		for _, it := range sweep {
			if !it.later {
				it.take()
				order = append(order, number[it.load])
			}
		}
	})
	// What is read of the first so many loads is consumed as soon as it is whole.
	got := make([]bool, len(loads))
	consumed, sum := 0, 0
	for _, n := range order {
		got[n] = true
		read++
		for consumed < len(got) && got[consumed] {
			consumed++
		}
		most = max(most, read-consumed)
		sum += read - consumed
	}
	mean := sum / len(order)
	t.Logf("sweeps of %d loads: %d in memory in the mean, at most %d", per, mean, most)
	if mean > per/2*11/10 || most > per/2*13/10 {
		t.Errorf("sweeps of %d loads have %d in memory in the mean, %d at most", per, mean, most)
	}
}

// fewest is the least number of requests for loads if neighbours can be read together that are at most window loads apart: what one sees
// who always knows the next window loads and has memory for them.
func fewest(loads []item, window int) int {
	at := map[uint32][]int{}
	for n, it := range loads {
		at[it.sample] = append(at[it.sample], n)
	}
	together := 0
	for sample, mine := range at {
		for _, a := range mine {
			if slices.ContainsFunc(at[sample+1], func(b int) bool { return max(a-b, b-a) <= window }) {
				together++
			}
		}
	}
	return len(loads) - together
}

// requests is how many requests calls make of storage, if neighbours in one call are one.
func requests(calls [][]item) (n int) {
	for _, call := range calls {
		for i, it := range call {
			if i == 0 || it.sample > call[i-1].sample+1 {
				n++
			}
		}
	}
	return n
}

// The order needs about as few requests as anyone could make with its memory.
func TestSweepsNeedFewRequests(t *testing.T) {
	rng := rand.New(rand.NewPCG(65, 66))
	for _, c := range []struct {
		share  float64
		window int
	}{{1, 2000}, {.5, 1000}, {.5, 4000}, {.15, 1000}} {
		loads := drawn(rng, 20000, 32, 4, c.share)
		size := callsFor(c.window)
		var made [][]item
		sweeps(loads, 2*c.window, func(_ int, sweep []item) {
			for call := range size.cut(sweep, 1, 0) {
				call = slices.DeleteFunc(call, func(it item) bool { return it.later })
				for _, it := range call {
					it.take()
				}
				made = append(made, call)
			}
		})
		got, least := requests(made), fewest(loads, c.window)
		t.Logf("share %.2f, window %d: %d loads in %d requests, at least %d", c.share, c.window, len(loads), got, least)
		if float64(got) > 1.1*float64(least) {
			t.Errorf("share %.2f, window %d: %d requests, %d would do", c.share, c.window, got, least)
		}
	}
}

// demand is what an epoch of a job asks of storage, in requests and samples, if sweeps of per loads read over gaps of up to gap samples, and over-read
// loads of the next sweep are used as long as no more than slots are in memory.
func demand(loads []item, per, slots, gap, epochs int) (requests, samples float64) {
	number := map[*load]int{}
	for n, it := range loads {
		number[it.load] = n
	}
	got, consumed, held := make([]bool, len(loads)), 0, 0
	sweeps(loads, per, func(_ int, sweep []item) {
		for call := range callsFor(per/2).cut(sweep, 1, gap) {
			last := -1
			for _, it := range call {
				if left, spare := slots-held, spareFor(slots); it.later && (left <= spare.between || it.beside && left <= spare.beside) {
					continue
				}
				it.take()
				got[number[it.load]] = true
				for held++; consumed < len(got) && got[consumed]; held-- {
					consumed++
				}
				if at := int(it.sample); last < 0 || at > last+gap+1 {
					requests++
					samples++
				} else {
					samples += float64(at - last)
				}
				last = int(it.sample)
			}
		}
	})
	return requests / float64(epochs), samples / float64(epochs)
}

// Loads of the next sweep that are read over are worth slots: on storage of 500 requests and 200 MB per second, 40,000 samples of
// 64 KiB of which 7,100 fit into memory take less time than in longer sweeps without.
func TestOverReadLoads(t *testing.T) {
	const slots, epochs = 7100, 4
	seconds := func(per, room int) float64 {
		least := math.Inf(1)
		for gap := 2; gap <= 4; gap++ {
			requests, samples := demand(drawn(rand.New(rand.NewPCG(65, 66)), 40000, 64, epochs, 1), per, room, gap, epochs)
			least = min(least, max(requests/500, samples*65536/200e6))
		}
		return least
	}
	with, without := seconds(sweepFor(slots), slots), seconds(2*slots, 0)
	t.Logf("%.1f s an epoch, %.1f s with longer sweeps and without them", with, without)
	if with > .95*without {
		t.Errorf("%.1f s an epoch, %.1f s without using what is read over", with, without)
	}
}

// Every load is in one call; one that is left to the next sweep only where it stands together with one that is not. It stands beside
// unless it is between two that stand together, or in their chunk.
func TestCalls(t *testing.T) {
	rng := rand.New(rand.NewPCG(67, 68))
	for range 300 {
		loads := drawn(rng, 400, 8, 1, rng.Float64())
		for _, it := range loads {
			it.later, it.taken = rng.IntN(3) == 0, rng.IntN(9) == 0
		}
		slices.SortFunc(loads, func(a, b item) int { return int(a.sample) - int(b.sample) })
		chunk, gap, size := 1+rng.IntN(5), rng.IntN(4), callSize{few: 1 + rng.IntN(10), most: 10 + rng.IntN(30)}
		seen := map[*load]bool{}
		for call := range size.cut(loads, chunk, gap) {
			checkCall(t, call, chunk, gap, size)
			for _, it := range call {
				if it.taken || seen[it.load] {
					t.Fatal("a load is read twice")
				}
				seen[it.load] = true
			}
		}
		for _, it := range loads {
			if !it.taken && !it.later && !seen[it.load] {
				t.Fatal("a load is in no call")
			}
		}
	}
}

func checkCall(t *testing.T, call []item, chunk, gap int, size callSize) {
	t.Helper()
	var musts []int // chunks
	for _, it := range call {
		if !it.later {
			musts = append(musts, int(it.sample)/chunk)
		}
	}
	if len(musts) > max(size.most, size.few)+chunk {
		t.Fatalf("%d loads in a call of %+v", len(musts), size)
	}
	for _, it := range call {
		at := int(it.sample) / chunk
		next, same := slices.BinarySearch(musts, at)
		between := same || next > 0 && next < len(musts) && musts[next]-musts[next-1] <= gap+1
		if it.later && it.beside == between {
			t.Fatalf("a load that is left over is in chunk %d, beside: %v; the others are in %v", at, it.beside, musts)
		}
	}
	checkTogether(t, call, chunk, gap)
}

// checkTogether finds loads that are left to the next sweep and that no chain of loads joins with one that is not.
func checkTogether(t *testing.T, call []item, chunk, gap int) {
	t.Helper()
	for i := 0; i < len(call); {
		joined := false
		first := i
		for i++; ; i++ {
			joined = joined || !call[i-1].later
			if i == len(call) || int(call[i].sample)/chunk-int(call[i-1].sample)/chunk > gap+1 {
				break
			}
		}
		if !joined {
			t.Fatalf("nothing of this sweep is with the loads from sample %d on", call[first].sample)
		}
	}
}
