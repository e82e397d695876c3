package planner

import (
	"encoding/hex"
	"slices"
)

// Report is what `plan --json` prints of a whole plan. Numbers of loads are samples over all nodes.
type Report struct {
	Samples       int    `json:"samples"`
	Epochs        int    `json:"epochs"`
	StepsPerEpoch int    `json:"steps_per_epoch"`
	Nodes         int    `json:"nodes"`
	Ranks         int    `json:"ranks"`
	BatchSize     int    `json:"batch_size"`
	Strategy      string `json:"strategy"`
	BufferSamples int    `json:"buffer_samples_per_node"`

	Loads       int `json:"loads"`
	LoadsBound  int `json:"loads_bound"`  // the least possible, repeats of torch's padding not counted
	LoadsForced int `json:"loads_forced"` // loads - loads_padded - loads_bound
	LoadsPadded int `json:"loads_padded"` // repeats
	LoadsRiders int `json:"loads_riders"` // read before the step that needs them, with a chunk that is read anyway
	Remote      int `json:"remote"`       // read from other nodes' memory, neither load nor hit

	LoadsByEpoch        []int `json:"loads_by_epoch"`
	LoadsBoundByEpoch   []int `json:"loads_bound_by_epoch"`
	StorageReadsByEpoch []int `json:"storage_reads_by_epoch"` // chunks, over steps, nodes and fields

	// Chunks is how many chunks of Spec.Chunk samples the set has, and ChunkReadsByEpoch how often one is read; none where Chunk is 0 or 1.
	Chunks            int   `json:"chunks,omitempty"`
	ChunkReadsByEpoch []int `json:"chunk_reads_by_epoch,omitempty"`

	HitRate  float64 `json:"hit_rate"`  // hits / samples used
	MaxBatch int     `json:"max_batch"` // over ranks and full steps; the short last step counts only where it is the only one
	MinBatch int     `json:"min_batch"`

	// The busiest node's loads over the nodes' mean, both averaged over the steps (or runs of 16 steps) from
	// the second epoch on: a ratio of sums, so a step without loads weighs nothing. 1 if there are no such loads.
	BusiestOverMeanStep    float64 `json:"busiest_over_mean_step"`
	BusiestOverMean16Steps float64 `json:"busiest_over_mean_16_steps"`

	Digest  string   `json:"digest"`  // of the digests of all epochs
	Digests []string `json:"digests"` // of each epoch
}

// MakeReport plans all epochs, one after the other, and sums them up. seen, if not nil, is called with each and
// with the schedule, which stands before the next one; it must not keep the epoch.
func MakeReport(spec Spec, seen func(*Epoch, *Schedule)) (Report, error) {
	schedule, err := NewSchedule(spec)
	if err != nil {
		return Report{}, err
	}
	sum := newSummary(spec)
	for e, ok := schedule.Next(); ok; e, ok = schedule.Next() {
		sum.add(e)
		if seen != nil {
			seen(e, schedule)
		}
		schedule.Reuse(e)
	}
	return sum.report(), nil
}

// summary adds epochs up to a Report.
type summary struct {
	r                              Report
	hits, positions                int
	laterLoads, busiest, busiest16 int // from the second epoch on
}

func newSummary(s Spec) *summary {
	return &summary{r: Report{
		Samples: s.Samples, Epochs: s.Epochs, StepsPerEpoch: s.Steps(), Nodes: s.Nodes, Ranks: s.Ranks(),
		BatchSize: s.BatchSize, Strategy: s.strategy(), BufferSamples: s.BufferSamples,
	}}
}

func (s *summary) add(e *Epoch) {
	st, r := e.Stats(), &s.r
	r.Loads += st.Loads
	r.LoadsBound += st.Bound
	r.LoadsForced += st.Forced
	r.LoadsPadded += st.Padded
	r.LoadsRiders += st.Riders
	r.Remote += st.Remote
	if e.Index == 0 {
		r.MaxBatch, r.MinBatch = st.MaxBatch, st.MinBatch
	}
	r.MaxBatch, r.MinBatch = max(r.MaxBatch, st.MaxBatch), min(r.MinBatch, st.MinBatch)
	r.LoadsBoundByEpoch = append(r.LoadsBoundByEpoch, st.Bound)
	s.hits += st.Hits
	s.positions += e.spec.Positions()
	reads := 0
	for _, n := range st.StorageReads {
		reads += n
	}
	r.LoadsByEpoch = append(r.LoadsByEpoch, st.Loads)
	r.StorageReadsByEpoch = append(r.StorageReadsByEpoch, reads)
	if field := slices.Index(e.spec.ChunkSamples, e.spec.Chunk); field >= 0 && e.spec.Chunk > 1 {
		r.Chunks = ceilDiv(e.spec.Samples, e.spec.Chunk)
		r.ChunkReadsByEpoch = append(r.ChunkReadsByEpoch, st.StorageReads[field])
	}
	if e.Index > 0 {
		s.laterLoads += st.Loads
		s.busiest += st.Busiest
		s.busiest16 += st.Busiest16
	}
	digest := e.Digest()
	r.Digests = append(r.Digests, hex.EncodeToString(digest[:]))
}

func (s *summary) report() Report {
	r := s.r
	r.HitRate = float64(s.hits) / float64(s.positions)
	r.BusiestOverMeanStep = s.overMean(s.busiest)
	r.BusiestOverMean16Steps = s.overMean(s.busiest16)
	r.Digest, _ = DigestOf(r.Digests) // each is one
	return r
}

func (s *summary) overMean(busiest int) float64 {
	if s.laterLoads == 0 {
		return 1
	}
	return float64(busiest) * float64(s.r.Nodes) / float64(s.laterLoads)
}
