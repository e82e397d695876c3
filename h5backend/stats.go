package h5backend

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Stats counts what all Readers of a Set have asked of the storage since Open.
type Stats struct {
	Reads   int64 // requests sent to storage; one merged read is one
	Bytes   int64 // read from storage, before decoding; what lay in gaps included
	Samples int64 // handed on without error
	Retries int64 // reads that were done again after a failure
	Failed  int64 // samples that could not be read
	Latency Histogram
}

// Histogram counts storage reads by their time: Counts[i] those below 2^i microseconds, and not below half of it.
type Histogram struct {
	Counts [latencyBuckets]int64
	Sum    time.Duration
}

const latencyBuckets = 32

// Upper is the upper limit of bucket i.
func (Histogram) Upper(i int) time.Duration { return time.Microsecond << i }

// Quantile is an upper limit for the share q of the reads; 0 without reads.
func (h Histogram) Quantile(q float64) time.Duration {
	var total, below int64
	for _, n := range h.Counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	for i, n := range h.Counts {
		if below += n; float64(below) >= q*float64(total) {
			return h.Upper(i)
		}
	}
	return h.Upper(latencyBuckets - 1)
}

type counters struct {
	reads, bytes, samples, retries, failed, nanos atomic.Int64
	latency                                       [latencyBuckets]atomic.Int64
}

// read counts one storage read that began at start, and says how long it took.
func (c *counters) read(bytes int, start time.Time) time.Duration {
	took := time.Since(start)
	c.reads.Add(1)
	c.bytes.Add(int64(bytes))
	c.nanos.Add(int64(took))
	c.latency[min(bits.Len64(uint64(took.Microseconds())), latencyBuckets-1)].Add(1)
	return took
}

// Stats gives a snapshot of the counters.
func (s *Set) Stats() Stats {
	c := &s.stats
	out := Stats{Reads: c.reads.Load(), Bytes: c.bytes.Load(), Samples: c.samples.Load(), Retries: c.retries.Load(), Failed: c.failed.Load()}
	out.Latency.Sum = time.Duration(c.nanos.Load())
	for i := range c.latency {
		out.Latency.Counts[i] = c.latency[i].Load()
	}
	return out
}
