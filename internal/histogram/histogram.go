// Package histogram counts times in buckets that double, cheaply enough for
// every storage read and every open.
package histogram

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Buckets is how many there are: the last one has no upper limit.
const Buckets = 32

// Histogram counts times. Its zero value is ready.
type Histogram struct {
	counts [Buckets]atomic.Int64
	nanos  atomic.Int64
}

// Observe counts one time.
func (h *Histogram) Observe(took time.Duration) {
	h.nanos.Add(int64(took))
	h.counts[min(bits.Len64(uint64(took.Microseconds())), Buckets-1)].Add(1)
}

// Counts gives a snapshot.
func (h *Histogram) Counts() Counts {
	out := Counts{Sum: time.Duration(h.nanos.Load())}
	for i := range h.counts {
		out.Bucket[i] = h.counts[i].Load()
	}
	return out
}

// Counts is what was counted: Bucket[i] the times below Upper(i), and not below
// Upper(i-1).
type Counts struct {
	Bucket [Buckets]int64
	Sum    time.Duration
}

// Upper is the upper limit of bucket i: 2^i microseconds.
func Upper(i int) time.Duration { return time.Microsecond << i }

// Total is how many times were counted.
func (c Counts) Total() int64 {
	var n int64
	for _, b := range c.Bucket {
		n += b
	}
	return n
}

// Quantile is an upper limit for the share q of the times; 0 without any.
func (c Counts) Quantile(q float64) time.Duration {
	total, below := c.Total(), int64(0)
	if total == 0 {
		return 0
	}
	for i, n := range c.Bucket {
		if below += n; float64(below) >= q*float64(total) {
			return Upper(i)
		}
	}
	return Upper(Buckets - 1)
}
