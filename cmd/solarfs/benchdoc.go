package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"solarfs/h5backend"
)

// benchDepths are the numbers of reads at once at which bench measures the storage.
var benchDepths = []int{1, 2, 4, 8, 16, 32, 64}

// benchDoc is what bench found. Sizes are bytes, times seconds; rates are per second.
type benchDoc struct {
	LatencySeconds float64          `json:"latency_seconds"` // of one read after the other
	Paces          []h5backend.Pace `json:"storage"`
	BestDepth      int              `json:"best_depth"` // beyond it, reads at once gain nothing

	Seconds    float64    `json:"seconds"`
	CPUSeconds float64    `json:"cpu_seconds"`
	Batches    int        `json:"batches"`
	Loads      int64      `json:"loads"` // samples read from storage
	Hits       int64      `json:"hits"`
	Requests   int64      `json:"requests"`
	Bytes      int64      `json:"bytes"`
	Reading    readingDoc `json:"reading"`

	LoadRate       float64 `json:"loads_per_second"`
	FirstEpoch     float64 `json:"first_epoch_seconds"` // at that rate
	LaterEpoch     float64 `json:"epoch_seconds"`
	PredictedFirst float64 `json:"predicted_first_epoch_seconds"` // by the plan
	PredictedLater float64 `json:"predicted_epoch_seconds"`
	Limit          string  `json:"limit"` // requests, bandwidth, processor or latency

	plan *planDoc
}

// bestDepth is the least that comes within 5 % of the best rate.
func bestDepth(paces []h5backend.Pace) int {
	most := 0.
	for _, p := range paces {
		most = max(most, p.Rate)
	}
	for _, p := range paces {
		if p.Rate >= .95*most {
			return p.Depth
		}
	}
	return 1
}

// conclude says from what was measured how long epochs will take, and what decides it: whatever was used nearest to its most.
func (d *benchDoc) conclude() {
	d.LoadRate = float64(d.Loads) / d.Seconds
	if d.LoadRate > 0 {
		nodes := float64(d.plan.Spec.Nodes)
		d.FirstEpoch = float64(d.plan.LoadsByEpoch[0]) / nodes / d.LoadRate
		d.LaterEpoch = float64(d.plan.LoadsByEpoch[closerEpoch(len(d.plan.LoadsByEpoch))]) / nodes / d.LoadRate
	}
	rate, bandwidth := 0., 0.
	for _, p := range d.Paces {
		rate, bandwidth = max(rate, p.Rate), max(bandwidth, p.Bandwidth)
	}
	bandwidth = max(bandwidth, d.plan.Storage.Bandwidth)
	uses := map[string]float64{
		"requests":  float64(d.Requests) / d.Seconds / rate,
		"bandwidth": float64(d.Bytes) / d.Seconds / bandwidth,
		"processor": d.CPUSeconds / d.Seconds / float64(runtime.GOMAXPROCS(0)),
	}
	const enough = .7 // of its most
	most := enough
	d.Limit = "latency"
	for _, name := range []string{"requests", "bandwidth", "processor"} {
		if uses[name] >= most {
			d.Limit, most = name, uses[name]
		}
	}
}

// limits says what to make of a limit.
var limits = map[string]string{
	"requests":  "the requests that the storage answers in a second: more --memory saves loads, or lets more of them be one request",
	"bandwidth": "the storage's bandwidth: more --memory saves loads",
	"processor": "this machine's processors: decoding, or copying",
	"latency":   "none of the storage's limits nor the processors: a step's reads wait for each other; more --window helps, or larger batches",
}

func (d *benchDoc) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "reads at once\trequests/s\tbandwidth\t")
	for _, p := range d.Paces {
		fmt.Fprintf(t, "%d\t%s\t%s/s\t\n", p.Depth, humanize.CommafWithDigits(p.Rate, 0), humanize.Bytes(uint64(p.Bandwidth)))
	}
	t.Flush()
	fmt.Fprintf(w, "one read takes %s; more than %d at once gain nothing\n\n", secondsText(d.LatencySeconds), d.BestDepth)
	fmt.Fprintf(w, "memory: %s\n", d.plan.Memory)
	fmt.Fprintf(w, "read by the plan for %s: %d batches, %d loads (%s/s) in %d requests of %s, %d hits; %.2f processors busy\n", secondsText(d.Seconds), d.Batches, d.Loads,
		humanize.CommafWithDigits(d.LoadRate, 0), d.Requests, bytesText(d.Bytes/max(1, d.Requests)), d.Hits, d.CPUSeconds/d.Seconds)
	d.Reading.print(w)
	fmt.Fprintf(w, "an epoch's reading takes %s, the first %s (the plan predicts %s and %s)\n", secondsText(d.LaterEpoch), secondsText(d.FirstEpoch),
		secondsText(d.PredictedLater), secondsText(d.PredictedFirst))
	fmt.Fprintf(w, "limited by %s\n", limits[d.Limit])
}
