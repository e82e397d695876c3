package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// Result is one run of the benchmark.
type Result struct {
	Machine machine  `json:"machine"`
	Date    string   `json:"date"` // UTC, RFC 3339
	Suite   string   `json:"suite"`
	Rows    []Row    `json:"rows"`
	Skipped []string `json:"skipped,omitempty"` // what could not be measured, and why
}

// Row is one system on one storage and data set. Rows of one Group had the same memory and are compared with each other.
type Row struct {
	Group   string `json:"group"`
	Storage string `json:"storage"`
	Data    string `json:"data"`
	System  string `json:"system"`
	Samples int    `json:"samples"` // in the set

	Share   float64 `json:"buffer_share,omitempty"` // of the set; 0: the system keeps nothing by itself
	Epochs  int     `json:"epochs"`                 // whole ones measured; 0: a part of one, scaled
	Batches int     `json:"batches,omitempty"`      // measured
	Note    string  `json:"note,omitempty"`

	SecondsPerEpoch  float64 `json:"seconds_per_epoch"`
	SamplesPerSecond float64 `json:"samples_per_second"`
	MBPerSecond      float64 `json:"mb_per_second"`                // of samples as a script sees them, 1e6 bytes
	OverBest         float64 `json:"over_best_loader,omitempty"`   // samples per second over those of the group's fastest DataLoader
	OverPlain        float64 `json:"over_loader_w0,omitempty"`     // over those of the DataLoader without workers
	CPUPerGB         float64 `json:"cpu_seconds_per_gb"`           // of reader and daemon, user and system, for 1e9 bytes served
	Requests         *int64  `json:"storage_requests,omitempty"`   // per epoch, where the storage counts them
	RequestBytes     *int64  `json:"storage_read_bytes,omitempty"` // per epoch
	Memory           int64   `json:"cgroup_bytes,omitempty"`       // of the memory cgroup
	loader           int     // workers + 1 of a row that others are compared with
}

// measured fills in what one run has given.
func (r Row) measured(d dataset, m measurement) Row {
	r.Samples, r.Epochs, r.Batches = d.Samples, m.Epochs, m.Batches
	if m.Samples < 0 {
		m.Samples = d.Samples * m.Epochs
	}
	scale := float64(d.Samples) / float64(m.Samples) // from what was measured to an epoch
	r.SamplesPerSecond = float64(m.Samples) / m.Seconds
	r.SecondsPerEpoch = m.Seconds * scale
	r.MBPerSecond = r.SamplesPerSecond * float64(d.sampleBytes()) / 1e6
	r.CPUPerGB = m.cpu / (float64(m.Samples) * float64(d.sampleBytes()) / 1e9)
	if m.counted {
		requests, bytes := int64(float64(m.counts.Requests)*scale), int64(float64(m.counts.Bytes)*scale)
		r.Requests, r.RequestBytes = &requests, &bytes
	}
	return r
}

// isLoader says whether a row is a DataLoader's, straight on the storage, and with how many workers.
func (r Row) isLoader() (workers int, is bool) { return r.loader - 1, r.loader > 0 }

// relate fills in the ratios of each group.
func relate(rows []Row) {
	best, plain := map[string]float64{}, map[string]float64{}
	for _, r := range rows {
		if workers, is := r.isLoader(); is {
			best[r.Group] = max(best[r.Group], r.SamplesPerSecond)
			if workers == 0 {
				plain[r.Group] = r.SamplesPerSecond
			}
		}
	}
	for i := range rows {
		r := &rows[i]
		if best := best[r.Group]; best > 0 {
			r.OverBest = r.SamplesPerSecond / best
		}
		if plain := plain[r.Group]; plain > 0 {
			r.OverPlain = r.SamplesPerSecond / plain
		}
	}
}

func readResult(path string) (r Result, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the result in %s: %w; give a file that --json wrote", path, err)
	}
	return r, nil
}

func writeJSON(path string, r Result) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
