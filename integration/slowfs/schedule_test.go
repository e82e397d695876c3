package slowfs

import (
	"math/rand/v2"
	"testing"
	"time"
)

const ms = time.Millisecond

// asked is one request, at a time since the start.
type asked struct {
	at   time.Duration
	size int
}

func TestSchedule(t *testing.T) {
	// 1 MB takes a millisecond.
	fast := Speed{Latency: 10 * ms, Bandwidth: 1e9, AtOnce: 2}
	tests := []struct {
		name  string
		speed Speed
		asked []asked
		due   []time.Duration
	}{
		{"alone: latency and bytes", fast, []asked{{5 * ms, 3e6}}, []time.Duration{18 * ms}},
		{"without limit: latency", Speed{Latency: 10 * ms, AtOnce: 1}, []asked{{0, 1 << 30}}, []time.Duration{10 * ms}},
		{"latencies overlap, bytes do not", fast, []asked{{0, 3e6}, {0, 3e6}}, []time.Duration{13 * ms, 15 * ms}},
		{"later by less than the bytes", fast, []asked{{0, 5e6}, {1 * ms, 5e6}}, []time.Duration{15 * ms, 19 * ms}},
		{"later by more", fast, []asked{{0, 1e6}, {4 * ms, 1e6}}, []time.Duration{11 * ms, 15 * ms}},
		{"the third waits for a slot", fast, []asked{{0, 0}, {3 * ms, 0}, {4 * ms, 0}, {4 * ms, 0}}, []time.Duration{10 * ms, 13 * ms, 20 * ms, 23 * ms}},
		{"one at once: one after the other", Speed{Latency: 10 * ms, AtOnce: 1}, []asked{{0, 0}, {0, 0}, {0, 0}}, []time.Duration{10 * ms, 20 * ms, 30 * ms}},
		{"a small one is not before a large one", fast, []asked{{0, 5e6}, {0, 0}}, []time.Duration{15 * ms, 15 * ms}},
		{"rounded up", Speed{Bandwidth: 3e9, AtOnce: 1}, []asked{{0, 1}}, []time.Duration{1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newSchedule(test.speed)
			for i, a := range test.asked {
				if got := s.due(a.at, a.size); got != test.due[i] {
					t.Errorf("request %d at %v of %d bytes is due at %v, want %v", i, a.at, a.size, got, test.due[i])
				}
			}
		})
	}
}

// Whatever is asked: each request takes its latency and its bytes' time, no more
// than AtOnce are between slot and answer, and no span of time passes more bytes
// than the bandwidth and the burst allow.
func TestScheduleHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		speed := Speed{Latency: time.Duration(random.IntN(int(3 * ms))), Bandwidth: 1e6 + random.Int64N(1e9), AtOnce: 1 + random.IntN(20)}
		s := newSchedule(speed)
		var now time.Duration
		var requests []asked
		var due []time.Duration
		for i := range 100 {
			now += time.Duration(random.ExpFloat64() * float64(200*time.Microsecond))
			a := asked{now, random.IntN(1 << random.IntN(21))}
			requests, due = append(requests, a), append(due, s.due(a.at, a.size))
			served := a.at
			if i >= speed.AtOnce {
				served = max(served, due[i-speed.AtOnce])
			}
			if due[i] < served+speed.Latency+speed.transfer(a.size) {
				t.Fatalf("%+v: request %d %+v has its slot at %v and is due at %v", speed, i, a, served, due[i])
			}
		}
		for first := range requests {
			var pass time.Duration
			for i := first + 1; i < len(requests); i++ {
				pass += speed.transfer(requests[i].size)
				if span := due[i] - due[first]; span < pass-burst {
					t.Fatalf("%+v: the bytes of requests %d to %d need %v and pass in %v", speed, first+1, i, pass, span)
				}
			}
		}
	}
}

func TestSpeedCheck(t *testing.T) {
	for _, bad := range []Speed{{Latency: -1, AtOnce: 1}, {Bandwidth: -1, AtOnce: 1}, {AtOnce: 0}, {AtOnce: maxAtOnce + 1}} {
		if bad.check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	if err := (Speed{AtOnce: 1}).check(); err != nil {
		t.Error(err)
	}
}
