package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"solarfs/cache"
	"solarfs/h5backend"
	"solarfs/planner"
	"solarfs/storage"
)

// speedFlags say what storage gives.
func speedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "latency", DefaultText: "measured", Usage: "`TIME` until the storage answers a request", EnvVars: env("latency")},
		&cli.StringFlag{Name: "bandwidth", DefaultText: "measured", Usage: "`SIZE` that the storage gives one node per second, such as 200MB; 0: no limit", EnvVars: env("bandwidth")},
		&cli.Float64Flag{Name: "iops", DefaultText: "measured", Usage: "`N` requests that the storage answers to one node per second; 0: what --latency allows", EnvVars: env("iops")},
	}
}

// speedDoc is what storage gives one node, as the plan was made for it.
type speedDoc struct {
	Latency   float64 `json:"latency_seconds"`
	Bandwidth float64 `json:"bandwidth"` // bytes a second; 0: no limit
	IOPS      float64 `json:"iops"`      // 0: what latency allows
	Source    string  `json:"source"`
}

// guess is a network file system's speed, for where nothing can be measured.
var guess = speedDoc{Latency: 2e-3, Bandwidth: 400e6}

// Sources of a speedDoc.
const (
	fromFlags   = "flags"
	fromProbe   = "measured"
	fromCached  = "measured, perhaps in the page cache"
	fromNothing = "guess"
)

// speedFromFlags takes what the flags say and gets the rest from the data; without an own plan file each node must come to the same.
func speedFromFlags(c *cli.Context, set *h5backend.Set, alone bool) (speedDoc, error) {
	given, err := givenSpeed(c)
	if err != nil {
		return given, err
	}
	requests, bytes := c.IsSet("latency") || c.IsSet("iops"), c.IsSet("bandwidth")
	if requests && bytes {
		given.Source = fromFlags
		return given, nil
	}
	seen := guess
	seen.Source = fromNothing + ", since every node plans for itself"
	if alone {
		seen = measured(set)
	}
	if requests {
		seen.Latency, seen.IOPS = given.Latency, given.IOPS
	}
	if bytes {
		seen.Bandwidth = given.Bandwidth
	}
	if requests || bytes {
		seen.Source = fromFlags + "; the rest: " + seen.Source
	}
	return seen, nil
}

// givenSpeed reads --latency, --bandwidth and --iops; 0 where one is not given.
func givenSpeed(c *cli.Context) (s speedDoc, err error) {
	s.Latency, s.IOPS = c.Duration("latency").Seconds(), c.Float64("iops")
	if c.IsSet("bandwidth") {
		if s.Bandwidth, err = bytesPerSecond("bandwidth", c.String("bandwidth")); err != nil {
			return s, err
		}
	}
	if err := s.model().Validate(); err != nil {
		return s, wrongUse("--latency, --bandwidth, --iops: %w", err)
	}
	return s, nil
}

func bytesPerSecond(flag, text string) (float64, error) {
	n, err := humanize.ParseBytes(strings.TrimSuffix(text, "/s"))
	if err != nil || n > maxSize {
		return 0, wrongUse("--%s %q is no size per second; write it as 200MB or 1GiB", flag, text)
	}
	return float64(n), nil
}

// measured reads the data for a moment.
func measured(set *h5backend.Set) speedDoc {
	p, err := set.Probe(aheadDepth)
	if err != nil {
		s := guess
		s.Source = fmt.Sprintf("%s: %v", fromNothing, err)
		return s
	}
	s := speedDoc{Latency: p.Latency.Seconds(), Bandwidth: p.Bandwidth, IOPS: p.Rate, Source: fromProbe}
	if p.Cached {
		s.Source = fromCached
	}
	return s
}

func (s speedDoc) model() storage.Model {
	return storage.Model{Latency: s.Latency, Depth: aheadDepth, IOPS: s.IOPS, Bandwidth: s.Bandwidth}
}

// modelFor is the model for a job's order. Package storage is about random orders; the others read long runs of the file, so few requests.
func (s speedDoc) modelFor(spec planner.Spec) storage.Model {
	m := s.model()
	if spec.Order != planner.OrderTorch {
		m.Latency, m.IOPS = 0, 0
	}
	return m
}

func (s speedDoc) String() string {
	var texts []string
	if s.Latency > 0 {
		texts = append(texts, secondsText(s.Latency)+" per request")
	}
	if rate := s.model().Rate(); !math.IsInf(rate, 1) {
		texts = append(texts, humanize.CommafWithDigits(rate, 0)+" requests/s")
	}
	if s.Bandwidth > 0 {
		texts = append(texts, humanize.Bytes(uint64(s.Bandwidth))+"/s")
	}
	return fmt.Sprintf("%s (%s)", strings.Join(texts, ", "), s.Source)
}

// storageJob is the job as package storage sees it.
func storageJob(spec planner.Spec, set *h5backend.Set) storage.Job {
	j := storage.Job{Samples: spec.Samples, Nodes: spec.Nodes, StepSamples: spec.RanksPerNode * spec.BatchSize, Epochs: spec.Epochs}
	for _, u := range set.Units() {
		j.Fields = append(j.Fields, storage.Field{ChunkSamples: u.Samples, ChunkBytes: u.Bytes})
	}
	return j
}

// room is the memory that buffer and window share.
func room(free int64, spec planner.Spec, set *h5backend.Set) storage.Room {
	return storage.Room{Bytes: free, KeptBytes: sampleBytes(set) + slotBytes, StepBytes: cache.StepBytes(spec, set.Fields())}
}

// epochSeconds predicts the first epoch's reading and each other's.
func epochSeconds(m split, speed speedDoc, spec planner.Spec, set *h5backend.Set, plan planner.Report) (first, other float64) {
	if plan.Chunks > 0 {
		return chunkSeconds(plan.ChunkReadsByEpoch[:1], speed, spec, set), chunkSeconds(plan.ChunkReadsByEpoch, speed, spec, set)
	}
	if spec.Order == planner.OrderBlock { // runs of the file, and nothing is kept from one epoch to the next
		each := float64(spec.Samples) / float64(spec.Nodes)
		d := storage.Demand{Requests: each / float64(max(spec.Chunk, 1)), Bytes: each * float64(sampleBytes(set))}
		return speed.model().Seconds(d), speed.model().Seconds(d)
	}
	j, model := storageJob(spec, set), speed.modelFor(spec)
	kept := min(1, float64(bufferSamples(m, spec, set))*float64(spec.Nodes)/float64(spec.Samples))
	window := float64(m.Window) / float64(cache.StepBytes(spec, set.Fields())) * float64(j.StepSamples)
	const most = 1e18 // JSON knows no infinity
	return min(most, storage.First(model, j, kept, window).Seconds), min(most, storage.Predict(model, j, kept, window).Seconds)
}

// chunkSeconds is what the last but one of the epochs' chunk reads take, or the only one's. The plan has merged them: a chunk is a request.
func chunkSeconds(reads []int, speed speedDoc, spec planner.Spec, set *h5backend.Set) float64 {
	perNode := float64(reads[closerEpoch(len(reads))]) / float64(spec.Nodes)
	var d storage.Demand
	for _, u := range set.Units() {
		if u.Samples == spec.Chunk {
			d.Requests += perNode
			d.Bytes += perNode * float64(u.Bytes)
		}
	}
	const most = 1e18
	return min(most, speed.model().Seconds(d))
}
