package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"solarfs/h5backend"
	"solarfs/planner"
)

// planDoc is a plan file, and .solarfs/plan.json: what was planned, for which
// data, and how many loads it takes. The lists of samples are not in it; every
// node computes them from the spec and compares digests.
type planDoc struct {
	planner.Report
	SampleBytes int64                `json:"sample_bytes"`
	Fields      []fieldDoc           `json:"fields"`
	LeftOut     []h5backend.LeftOut  `json:"left_out"` // by the default rule
	PlanSeconds float64              `json:"plan_seconds"`
	Spec        planner.Spec         `json:"spec"`
	Memory      split                `json:"memory"`
	Storage     speedDoc             `json:"storage"`
	Files       []h5backend.FileInfo `json:"files"`
	FieldArgs   []string             `json:"field_args"`

	// What reading is predicted to take, from Storage and Memory.
	FirstEpochSeconds float64 `json:"predicted_first_epoch_seconds"`
	EpochSeconds      float64 `json:"predicted_epoch_seconds"`

	// Snapshots stand in the plan file behind this document; see snapshots.go.
	Snapshots    []snapshotDoc `json:"snapshots,omitempty"`
	snapshotData []byte
}

// fieldDoc is a field as a program sees it: numpy dtype, shape of one sample.
type fieldDoc struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

func (f fieldDoc) String() string { return fmt.Sprintf("%s %s %v", f.Name, f.DType, f.Shape) }

func fieldDocs(set *h5backend.Set) []fieldDoc {
	var docs []fieldDoc
	for _, f := range set.Fields() {
		docs = append(docs, fieldDoc{Name: f.Name, DType: f.DType, Shape: append([]int{}, f.Shape...)})
	}
	return docs
}

func sampleBytes(set *h5backend.Set) int64 {
	var n int64
	for _, f := range set.Fields() {
		n += int64(f.Bytes)
	}
	return n
}

func (d *planDoc) json() []byte {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(err) // plain values always marshal
	}
	return append(text, '\n')
}

// leftOutText is what the default rule left out, in one line; "" if nothing.
func (d *planDoc) leftOutText() string {
	var texts []string
	for _, l := range d.LeftOut {
		texts = append(texts, fmt.Sprintf("%s (%s)", l.Path, l.Why))
	}
	return strings.Join(texts, ", ")
}

// joined is fields in one line: "x <f4 [64 64], y <i8 []".
func joined(fields []fieldDoc) string {
	var texts []string
	for _, f := range fields {
		texts = append(texts, f.String())
	}
	return strings.Join(texts, ", ")
}
