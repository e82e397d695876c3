package cache

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"solarfs/internal/histogram"
)

// keptErrors is how many of the last errors status shows.
const keptErrors = 16

// Status is what a node's data plane has done so far.
type Status struct {
	Ranks  []RankStatus `json:"ranks"`
	Hits   int64        `json:"hits"`   // samples found in the buffer, in the plan's order
	Loads  int64        `json:"loads"`  // samples read from storage, in the plan's order, riders included
	Riders int64        `json:"riders"` // loads that were read together with others' chunks, for later
	// RidersMissed counts riders of the plan for which there was no memory, or that could not be read.
	RidersMissed int64 `json:"riders_missed"`
	Strays       int64 `json:"strays"` // batches opened outside the plan's order
	// StrayReads counts the values of one field and sample that strays read from storage.
	StrayReads int64 `json:"stray_reads"`
	// BytesServed counts what readers got through the daemon, and whole files
	// where the kernel serves them itself.
	BytesServed  int64         `json:"bytes_served"`
	StallSeconds float64       `json:"stall_seconds"` // readers waiting for a batch, summed over ranks
	Epochs       []EpochStatus `json:"by_epoch"`
	Memory       Memory        `json:"memory"`
	// FilesMade is how many memory files were made for batches; the window's
	// number and no more while readers let go of what they have read.
	FilesMade int64    `json:"batch_files_made"`
	Errors    []string `json:"errors"` // the last ones
	// ErrorCount counts all of them.
	ErrorCount int64 `json:"error_count"`
	// Opens is how long opens of batches took, waiting included.
	Opens histogram.Counts `json:"-"`
}

// RankStatus is how far one rank has read: the last step that it opened, -1
// before the first.
type RankStatus struct {
	Rank  int `json:"rank"`
	Epoch int `json:"epoch"`
	Step  int `json:"step"`
}

// EpochStatus is the planned work done for one epoch.
type EpochStatus struct {
	Epoch        int     `json:"epoch"`
	Hits         int64   `json:"hits"`
	Loads        int64   `json:"loads"`
	Riders       int64   `json:"riders"`
	RidersMissed int64   `json:"riders_missed"`
	StallSeconds float64 `json:"stall_seconds"`
}

// Memory is in bytes. Limit is --memory; the others are in use now.
type Memory struct {
	Limit   int64 `json:"limit"`
	Buffer  int64 `json:"buffer"`
	Window  int64 `json:"window"`
	Batches int64 `json:"batches"` // of the window: made and waiting to be read, or open
	Ahead   int64 `json:"ahead"`   // of the window: set aside for samples that are read before their batch has memory, or for later
}

// stats counts. mu guards the per-epoch rows and the errors.
type stats struct {
	strayReads, strays, served, errors atomic.Int64
	opens                              histogram.Histogram
	mu                                 struct {
		sync.Mutex
		epochs []EpochStatus
		errors []string
	}
}

func newStats(epochs int) *stats {
	s := &stats{}
	s.mu.epochs = make([]EpochStatus, epochs)
	for i := range s.mu.epochs {
		s.mu.epochs[i].Epoch = i
	}
	return s
}

// committed counts one step.
func (s *stats) committed(epoch int, step EpochStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &s.mu.epochs[epoch]
	e.Hits += step.Hits
	e.Loads += step.Loads
	e.Riders += step.Riders
	e.RidersMissed += step.RidersMissed
}

func (s *stats) stalled(epoch int, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.epochs[epoch].StallSeconds += d.Seconds()
}

func (s *stats) failed(err error) {
	s.errors.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.errors = append(s.mu.errors, err.Error())
	if len(s.mu.errors) > keptErrors {
		s.mu.errors = slices.Delete(s.mu.errors, 0, 1)
	}
}

// fill puts the counts into out.
func (s *stats) fill(out *Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Epochs = slices.Clone(s.mu.epochs)
	out.Errors = append([]string{}, s.mu.errors...)
	for _, e := range s.mu.epochs {
		out.Hits += e.Hits
		out.Loads += e.Loads
		out.Riders += e.Riders
		out.RidersMissed += e.RidersMissed
		out.StallSeconds += e.StallSeconds
	}
	out.Strays, out.StrayReads, out.BytesServed = s.strays.Load(), s.strayReads.Load(), s.served.Load()
	out.ErrorCount, out.Opens = s.errors.Load(), s.opens.Counts()
}
