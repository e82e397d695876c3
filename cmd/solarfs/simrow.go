package main

import (
	"time"

	"solarfs/planner"
	"solarfs/storage"
)

// secondsFormula says how simulate predicts an epoch's time; simRow.predict computes it.
const secondsFormula = "Seconds per epoch = max(slowest node's requests / min(iops, io-depth / latency), slowest node's bytes / bandwidth, " +
	"all nodes' bytes / store-bandwidth, steps x step-time).\n" +
	"A request is a load, or a chunk where chunks hold several samples; the slowest node is the busiest one of each 16 steps. " +
	"Every strategy is given the same reading: read ahead, and not merged. What is read from other nodes' memory costs nothing here."

// simRow is one strategy: what plan prints of a plan, and the time that it takes.
type simRow struct {
	planner.Report
	SampleBytes    int64      `json:"sample_bytes"`
	Fields         []fieldDoc `json:"fields"`
	BufferShare    float64    `json:"buffer_share"`
	ChunkSamples   int        `json:"chunk_samples"`
	MaxImbalance   float64    `json:"max_imbalance"`
	Order          string     `json:"order"`
	PlanSeconds    float64    `json:"plan_seconds"`
	SecondsByEpoch []float64  `json:"seconds_by_epoch"`
	Seconds        float64    `json:"seconds"` // of all epochs

	series epochSeries
}

// storageDoc is the storage model that a simulation assumes.
type storageDoc struct {
	Latency        float64 `json:"latency_seconds"`
	Depth          int     `json:"io_depth"`
	IOPS           float64 `json:"iops"`            // 0: no limit
	Bandwidth      float64 `json:"bandwidth"`       // bytes a second of a node; 0: no limit
	StoreBandwidth float64 `json:"store_bandwidth"` // of all nodes together; 0: no limit
	StepSeconds    float64 `json:"step_seconds"`
}

func newStorageDoc(m storage.Model, stepTime float64) storageDoc {
	return storageDoc{m.Latency, m.Depth, m.IOPS, m.Bandwidth, m.StoreBandwidth, stepTime}
}

// simulate plans a job and predicts its time.
func simulate(spec planner.Spec, sampleBytes int64, m storage.Model, stepTime float64, bar *progress) (simRow, error) {
	row := simRow{
		SampleBytes: sampleBytes, Fields: []fieldDoc{{Name: "sample", DType: "|u1", Shape: []int{int(sampleBytes)}}},
		BufferShare:  float64(spec.BufferSamples) * float64(spec.Nodes) / float64(spec.Samples),
		ChunkSamples: max(spec.Chunk, 1), MaxImbalance: spec.MaxImbalance, Order: spec.Order,
	}
	began := time.Now()
	report, err := planner.MakeReport(spec, func(e *planner.Epoch, _ *planner.Schedule) {
		row.SecondsByEpoch = append(row.SecondsByEpoch, row.predict(spec, e.Stats(), m, stepTime))
		if e.Index == closerEpoch(spec.Epochs) {
			row.series = newEpochSeries(spec, e)
		}
		bar.add(1)
	})
	row.Report, row.PlanSeconds = report, time.Since(began).Seconds()
	for _, s := range row.SecondsByEpoch {
		row.Seconds += s
	}
	return row, err
}

// predict computes secondsFormula for one epoch.
func (r simRow) predict(spec planner.Spec, s planner.EpochStats, m storage.Model, stepTime float64) float64 {
	compute := float64(spec.Steps()) * stepTime
	if s.Loads == 0 {
		return compute
	}
	nodes := float64(spec.Nodes)
	chunkBytes := float64(r.SampleBytes) * float64(r.ChunkSamples)
	slowest := float64(s.Busiest16) / float64(s.Loads) // of all loads
	all := storage.Demand{Requests: float64(s.StorageReads[0]), Bytes: float64(s.StorageReads[0]) * chunkBytes}
	demands := []storage.Demand{{Requests: all.Requests * slowest, Bytes: all.Bytes * slowest}}
	for range spec.Nodes - 1 {
		rest := (1 - slowest) / (nodes - 1)
		demands = append(demands, storage.Demand{Requests: all.Requests * rest, Bytes: all.Bytes * rest})
	}
	return max(m.Seconds(demands...), compute)
}
