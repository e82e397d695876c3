package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

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
	PlanSeconds float64              `json:"plan_seconds"`
	Spec        planner.Spec         `json:"spec"`
	Memory      split                `json:"memory"`
	Files       []h5backend.FileInfo `json:"files"`
	FieldArgs   []string             `json:"field_args"`
}

// fieldDoc is a field as a program sees it: numpy dtype, shape of one sample.
type fieldDoc struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

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

func readPlan(path string) (*planDoc, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wrongUse("--plan %s: there is no such file; make it with solarfs plan -o", path)
	}
	if err != nil {
		return nil, wrongUse("--plan: %w", err)
	}
	var d planDoc
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, wrongUse("--plan %s is not a plan file (%w); make one with solarfs plan -o", path, err)
	}
	if err := d.Spec.Validate(); err != nil || len(d.Digests) != d.Spec.Epochs || len(d.Files) == 0 {
		return nil, wrongUse("--plan %s is not a whole plan file; make it anew with solarfs plan -o", path)
	}
	return &d, nil
}

// fits says how the data differ from what was planned.
func (d *planDoc) fits(set *h5backend.Set) error {
	if got := set.Samples(); got != d.Spec.Samples {
		return fmt.Errorf("%d samples where %d were planned", got, d.Spec.Samples)
	}
	same := func(a, b fieldDoc) bool {
		return a.Name == b.Name && a.DType == b.DType && slices.Equal(a.Shape, b.Shape)
	}
	if got := fieldDocs(set); !slices.EqualFunc(got, d.Fields, same) {
		return fmt.Errorf("fields %v where %v were planned", got, d.Fields)
	}
	if got := set.ChunkSamples(); !slices.Equal(got, d.Spec.ChunkSamples) {
		return fmt.Errorf("chunks of %v samples where %v were planned", got, d.Spec.ChunkSamples)
	}
	for i, now := range set.Files() {
		if now != d.Files[i] {
			return fmt.Errorf("%s has changed since (size %d, was %d)", now.Path, now.Size, d.Files[i].Size)
		}
	}
	return nil
}
