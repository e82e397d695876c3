package main

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"solarfs/internal/histogram"
)

// metric is one figure of a status as Prometheus has it. Names are in base units.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(s *statusDoc) float64
}

func counter[N int64 | float64](name, help string, value func(s *statusDoc) N) metric {
	return metric{describe(name, help), prometheus.CounterValue, func(s *statusDoc) float64 { return float64(value(s)) }}
}

func gauge[N int | int64 | float64](name, help string, value func(s *statusDoc) N) metric {
	return metric{describe(name, help), prometheus.GaugeValue, func(s *statusDoc) float64 { return float64(value(s)) }}
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("solarfs_"+name, help, labels, nil)
}

var figures = []metric{
	counter("sample_hits_total", "Samples found in the buffer, in the plan's order.", func(s *statusDoc) int64 { return s.Hits }),
	counter("sample_loads_total", "Samples read from storage, in the plan's order, riders included.", func(s *statusDoc) int64 { return s.Loads }),
	counter("sample_riders_total", "Loads that were read together with others' chunks, for later.", func(s *statusDoc) int64 { return s.Riders }),
	counter("sample_riders_missed_total", "Riders of the plan for which there was no memory, or that could not be read.", func(s *statusDoc) int64 { return s.RidersMissed }),
	counter("stray_batches_total", "Batches opened outside the plan's order.", func(s *statusDoc) int64 { return s.Strays }),
	counter("stray_reads_total", "Values of one field and sample that batches outside the plan's order read from storage.", func(s *statusDoc) int64 { return s.StrayReads }),
	counter("storage_reads_total", "Requests sent to storage.", func(s *statusDoc) int64 { return s.StorageReads }),
	counter("storage_read_bytes_total", "Bytes read from storage, before decoding.", func(s *statusDoc) int64 { return s.BytesRead }),
	counter("storage_retries_total", "Storage reads that were done again after a failure.", func(s *statusDoc) int64 { return s.StorageRetries }),
	counter("storage_failed_total", "Values of one field and sample that could not be read from storage.", func(s *statusDoc) int64 { return s.StorageFailed }),
	counter("served_bytes_total", "Bytes that readers got through the daemon, and whole files where the kernel serves them itself.", func(s *statusDoc) int64 { return s.BytesServed }),
	counter("stall_seconds_total", "Time that readers waited for batches, summed over ranks.", func(s *statusDoc) float64 { return s.StallSeconds }),
	counter("batch_files_made_total", "Memory files made for batches.", func(s *statusDoc) int64 { return s.FilesMade }),
	counter("errors_total", "Errors that readers or the read-ahead met.", func(s *statusDoc) int64 { return s.ErrorCount }),
	gauge("memory_limit_bytes", "What the mount may use.", func(s *statusDoc) int64 { return s.Memory.Limit }),
	gauge("memory_buffer_bytes", "Memory of the samples kept between uses.", func(s *statusDoc) int64 { return s.Memory.Buffer }),
	gauge("memory_window_bytes", "Memory for what is read ahead.", func(s *statusDoc) int64 { return s.Memory.Window }),
	gauge("memory_batches_bytes", "Of the window: batches made and waiting to be read, or open.", func(s *statusDoc) int64 { return s.Memory.Batches }),
	gauge("memory_ahead_bytes", "Of the window: set aside for samples that are read before their batch has memory, or for later.", func(s *statusDoc) int64 { return s.Memory.Ahead }),
	gauge("reading_gap_bytes", "What is read over at most between two samples, to save a request.", func(s *statusDoc) int64 { return s.Reading.Gap }),
	gauge("reading_depth", "Reads ahead under way at once, at most.", func(s *statusDoc) int { return s.Reading.Depth }),
	gauge("reading_requests_per_second", "Requests that the storage is known to answer in a second; 0: no limit is known.", func(s *statusDoc) float64 { return s.Reading.Rate }),
	gauge("reading_bytes_per_second", "Bytes that the storage is known to give in a second; 0: no limit is known.", func(s *statusDoc) float64 { return s.Reading.Bandwidth }),
	gauge("plan_epochs", "Epochs of the plan.", func(s *statusDoc) int { return s.EpochCount }),
	gauge("plan_epoch_steps", "Steps of each epoch of the plan.", func(s *statusDoc) int { return s.StepsPerEpoch }),
}

var (
	buildInfo      = describe("build_info", "What solarfs was built as; always 1.", "version", "goversion")
	mountInfo      = describe("mount_info", "The node of the mount, and how batches reach their readers; always 1.", "node", "serving")
	rankEpoch      = describe("rank_epoch", "The epoch of the last batch that a rank opened, from 0 on.", "rank")
	rankStep       = describe("rank_step", "The step of the last batch that a rank opened, from 0 on; -1 before the first.", "rank")
	storageLatency = describe("storage_request_seconds", "Time that requests to storage took.")
	openLatency    = describe("open_seconds", "Time that opens of batches took, waiting for them included.")
)

// mountMetrics collects a mount's figures when they are asked for.
type mountMetrics struct{ status func() statusDoc }

// newRegistry has a mount's figures, and its process's.
func newRegistry(status func() statusDoc) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(mountMetrics{status}, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{Namespace: "solarfs"}))
	return r
}

// Describe names the figures.
func (m mountMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, f := range figures {
		out <- f.desc
	}
	for _, d := range []*prometheus.Desc{buildInfo, mountInfo, rankEpoch, rankStep, storageLatency, openLatency} {
		out <- d
	}
}

// Collect gives all of them as they are at one moment.
func (m mountMetrics) Collect(out chan<- prometheus.Metric) {
	s := m.status()
	constant := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	for _, f := range figures {
		constant(f.desc, f.kind, f.value(&s))
	}
	constant(buildInfo, prometheus.GaugeValue, 1, version, runtime.Version())
	constant(mountInfo, prometheus.GaugeValue, 1, strconv.Itoa(s.Node), s.Serving)
	for _, r := range s.Ranks {
		constant(rankEpoch, prometheus.GaugeValue, float64(r.Epoch), strconv.Itoa(r.Rank))
		constant(rankStep, prometheus.GaugeValue, float64(r.Step), strconv.Itoa(r.Rank))
	}
	out <- constHistogram(storageLatency, s.storageTimes)
	out <- constHistogram(openLatency, s.Opens)
}

// constHistogram is counted times as Prometheus has them: in seconds, each bucket
// with all below it. Its own last bucket stands for ours.
func constHistogram(d *prometheus.Desc, c histogram.Counts) prometheus.Metric {
	buckets, below := map[float64]uint64{}, uint64(0)
	for i := range histogram.Buckets - 1 {
		below += uint64(c.Bucket[i])
		buckets[histogram.Upper(i).Seconds()] = below
	}
	return prometheus.MustNewConstHistogram(d, uint64(c.Total()), c.Sum.Seconds(), buckets)
}

// metricsText is what a scrape shows, as .solarfs/metrics has it.
func metricsText(from prometheus.Gatherer) []byte {
	families, err := from.Gather()
	var text bytes.Buffer
	if err != nil {
		fmt.Fprintf(&text, "# %v\n", err)
	}
	for _, family := range families {
		expfmt.MetricFamilyToText(&text, family) // a buffer takes all
	}
	return text.Bytes()
}
