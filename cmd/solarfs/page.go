package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"solarfs/internal/report"
	"solarfs/planner"
)

// points is how many points a series over an epoch's steps has at most.
const points = 200

// epochSeries is one epoch looked at more closely; see report.Row.
type epochSeries struct {
	epoch    int
	steps    []int
	loads    [][]float64 // by node and point
	hitShare []float64
	batches  map[int]int
}

// closerEpoch is the epoch that a report shows closely: the last but one, since the last keeps nothing.
func closerEpoch(epochs int) int { return max(0, epochs-2) }

func newEpochSeries(spec planner.Spec, e *planner.Epoch) epochSeries {
	steps := spec.Steps()
	stride := (steps + points - 1) / points
	s := epochSeries{epoch: e.Index, loads: make([][]float64, spec.Nodes), batches: map[int]int{}}
	for first := 0; first < steps; first += stride {
		s.steps = append(s.steps, first)
		last := min(first+stride, steps)
		hits, all := 0, 0
		for node := range spec.Nodes {
			loads := 0
			for step := first; step < last; step++ {
				for local := range spec.RanksPerNode {
					samples, fates := e.Batch(step, node*spec.RanksPerNode+local)
					s.batches[len(samples)]++
					all += len(samples)
					for _, f := range fates {
						switch {
						case f&planner.Load != 0:
							loads++
						case f&planner.Remote == 0:
							hits++
						}
					}
				}
				loads += len(e.Riders(step, node))
			}
			s.loads[node] = append(s.loads[node], float64(loads)/float64(last-first))
		}
		s.hitShare = append(s.hitShare, float64(hits)/float64(all))
	}
	return s
}

// pageRow is one strategy as the report shows it.
func pageRow(r planner.Report, share float64, seconds []float64, s epochSeries) report.Row {
	return report.Row{
		Name: r.Strategy, Samples: r.Samples, Nodes: r.Nodes, Ranks: r.Ranks, BatchSize: r.BatchSize, StepsPerEpoch: r.StepsPerEpoch, BufferShare: share,
		Loads: r.Loads, LoadsBound: r.LoadsBound, LoadsByEpoch: r.LoadsByEpoch, BoundByEpoch: r.LoadsBoundByEpoch, StorageReadsByEpoch: r.StorageReadsByEpoch,
		HitRate: r.HitRate, MaxBatch: r.MaxBatch, MinBatch: r.MinBatch,
		BusiestOverMeanStep: r.BusiestOverMeanStep, BusiestOverMean16Steps: r.BusiestOverMean16Steps, SecondsByEpoch: seconds,
		SeriesEpoch: s.epoch, Steps: s.steps, LoadsPerNode: s.loads, HitShare: s.hitShare, Batches: s.batches,
	}
}

func (s simulation) page(c *cli.Context) report.Page {
	first := s.Rows[0]
	page := newPage(c, fmt.Sprintf("%s of %s, %s, %s x batch %d", count(first.Samples, "sample"), bytesText(first.SampleBytes),
		count(first.Nodes, "node"), count(first.Ranks, "rank"), first.BatchSize), "solarfs simulate")
	for _, r := range s.Rows {
		page.Rows = append(page.Rows, pageRow(r.Report, r.BufferShare, r.SecondsByEpoch, r.series))
	}
	return page
}

func (j *job) page(c *cli.Context) report.Page {
	d := &j.plan
	page := newPage(c, fmt.Sprintf("%s of %s, %s, %s x batch %d", count(d.Samples, "sample"), bytesText(d.SampleBytes),
		count(d.Nodes, "node"), count(d.Ranks, "rank"), d.BatchSize), "solarfs plan")
	seconds := slices.Repeat([]float64{d.EpochSeconds}, d.Epochs)
	seconds[0] = d.FirstEpochSeconds
	share := float64(d.BufferSamples) * float64(d.Nodes) / float64(d.Samples)
	page.Rows = append(page.Rows, pageRow(d.Report, share, seconds, j.series))
	return page
}

func newPage(c *cli.Context, subtitle, title string) report.Page {
	return report.Page{
		Title: title, Subtitle: subtitle, Made: time.Now().UTC().Format("2006-01-02 15:04 UTC") + " by solarfs " + version,
		Command: strings.Join(c.App.Metadata[commandLine].([]string), " "),
	}
}

func writePage(path string, page report.Page) error {
	var text bytes.Buffer
	if err := report.Write(&text, page); err != nil {
		return fmt.Errorf("make the report: %w", err)
	}
	if err := writeFile(path, text.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
