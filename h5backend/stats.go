package h5backend

import (
	"sync/atomic"
	"time"

	"solarfs/internal/histogram"
)

// Stats counts what all Readers of a Set have asked of the storage since Open.
type Stats struct {
	Reads   int64 // requests sent to storage; one merged read is one
	Bytes   int64 // read from storage, before decoding; what lay in gaps included
	Samples int64 // handed on without error
	Retries int64 // reads that were done again after a failure
	Failed  int64 // samples that could not be read
	Latency histogram.Counts
}

type counters struct {
	reads, bytes, samples, retries, failed atomic.Int64
	latency                                histogram.Histogram
}

// read counts one storage read that began at start, and says how long it took.
func (c *counters) read(bytes int, start time.Time) time.Duration {
	took := time.Since(start)
	c.reads.Add(1)
	c.bytes.Add(int64(bytes))
	c.latency.Observe(took)
	return took
}

// Stats gives a snapshot of the counters.
func (s *Set) Stats() Stats {
	c := &s.stats
	return Stats{
		Reads: c.reads.Load(), Bytes: c.bytes.Load(), Samples: c.samples.Load(), Retries: c.retries.Load(), Failed: c.failed.Load(),
		Latency: c.latency.Counts(),
	}
}
