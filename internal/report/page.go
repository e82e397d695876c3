package report

import (
	"errors"
	"fmt"
	"math"
)

// Page is what the report shows.
type Page struct {
	Title    string `json:"title"`
	Subtitle string `json:"subtitle,omitempty"`
	Made     string `json:"made,omitempty"`    // when and by which version, as the page is to say it
	Command  string `json:"command,omitempty"` // the command line that makes the page again
	Rows     []Row  `json:"rows"`
}

// Row is one strategy. Samples, loads and reads are counts; shares and rates are fractions of 1; times are seconds.
//
// Invariants, checked by Write: the series over epochs are of one length or empty; LoadsPerNode's series and HitShare are as long as
// Steps or empty; Steps rises from 0 or more to less than StepsPerEpoch; every number is finite.
type Row struct {
	Name          string  `json:"strategy"`
	Samples       int     `json:"samples"`
	Nodes         int     `json:"nodes"`
	Ranks         int     `json:"ranks"`
	BatchSize     int     `json:"batch_size"` // samples per rank and step
	StepsPerEpoch int     `json:"steps_per_epoch"`
	BufferShare   float64 `json:"buffer_share"` // what all buffers hold together, of the data set

	Loads               int   `json:"loads"`
	LoadsBound          int   `json:"loads_bound"` // the least loads possible
	LoadsByEpoch        []int `json:"loads_by_epoch"`
	BoundByEpoch        []int `json:"loads_bound_by_epoch"`
	StorageReadsByEpoch []int `json:"storage_reads_by_epoch"` // chunks, or samples where there are no chunks

	HitRate                float64   `json:"hit_rate"`
	MaxBatch               int       `json:"max_batch"` // samples
	MinBatch               int       `json:"min_batch"`
	BusiestOverMeanStep    float64   `json:"busiest_over_mean_step"` // busiest node's loads over the nodes' mean
	BusiestOverMean16Steps float64   `json:"busiest_over_mean_16_steps"`
	SecondsByEpoch         []float64 `json:"seconds_by_epoch,omitempty"` // predicted; empty: no prediction

	// One epoch more closely: each point of a series stands for the steps from its own up to the next point's.
	SeriesEpoch  int         `json:"series_epoch"`
	Steps        []int       `json:"steps,omitempty"`          // first step of each point; about 200 points are enough
	LoadsPerNode [][]float64 `json:"loads_per_node,omitempty"` // [node][point], mean loads per step
	HitShare     []float64   `json:"hit_share,omitempty"`      // [point], hits over samples
	Batches      map[int]int `json:"batches,omitempty"`        // batch size -> how many batches of that epoch, over all ranks
}

// check says which row breaks which invariant.
func (p Page) check() error {
	for i, row := range p.Rows {
		if err := row.check(); err != nil {
			return fmt.Errorf("row %d (%q): %w", i, row.Name, err)
		}
	}
	return nil
}

func (r Row) check() error {
	epochs := len(r.LoadsByEpoch)
	for name, length := range map[string]int{
		"BoundByEpoch": len(r.BoundByEpoch), "StorageReadsByEpoch": len(r.StorageReadsByEpoch), "SecondsByEpoch": len(r.SecondsByEpoch),
	} {
		if length != 0 && length != epochs {
			return fmt.Errorf("%s has %d epochs, LoadsByEpoch %d: give one value per epoch, or none", name, length, epochs)
		}
	}
	if err := r.checkSteps(); err != nil {
		return err
	}
	return r.checkFinite()
}

func (r Row) checkSteps() error {
	before := -1
	for _, step := range r.Steps {
		if step <= before || step >= r.StepsPerEpoch {
			return fmt.Errorf("step %d follows %d in an epoch of %d steps: Steps must rise within the epoch", step, before, r.StepsPerEpoch)
		}
		before = step
	}
	if n := len(r.HitShare); n != 0 && n != len(r.Steps) {
		return fmt.Errorf("HitShare has %d points, Steps %d: give one value per point, or none", n, len(r.Steps))
	}
	for node, loads := range r.LoadsPerNode {
		if len(loads) != len(r.Steps) {
			return fmt.Errorf("LoadsPerNode of node %d has %d points, Steps %d: give one value per point", node, len(loads), len(r.Steps))
		}
	}
	return nil
}

var errNotFinite = errors.New("a figure is infinite or not a number: leave it out, or give 0")

func (r Row) checkFinite() error {
	single := []float64{r.BufferShare, r.HitRate, r.BusiestOverMeanStep, r.BusiestOverMean16Steps}
	for _, values := range append([][]float64{single, r.SecondsByEpoch, r.HitShare}, r.LoadsPerNode...) {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return errNotFinite
			}
		}
	}
	return nil
}
