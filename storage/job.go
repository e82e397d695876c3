package storage

import (
	"fmt"
	"math"
)

// Field is what one sample of a field costs: the least that storage is asked for at once.
type Field struct {
	ChunkSamples int   // samples that can be read only together; 1 where each stands by itself
	ChunkBytes   int64 // as stored
}

// Job is what is read in each epoch, and by how many.
type Job struct {
	Samples     int // of the set, N
	Nodes       int
	StepSamples int     // that one node processes in a step
	Epochs      int     // of the whole job; its first loads every sample
	StepSeconds float64 // what a step takes besides reading; 0: reading is all
	Fields      []Field
}

// Validate returns an error that says which figure cannot be.
func (j Job) Validate() error {
	if j.Samples < 1 || j.Nodes < 1 || j.StepSamples < 1 || j.Epochs < 1 || len(j.Fields) == 0 || !(j.StepSeconds >= 0) {
		return fmt.Errorf("a job of %+v cannot be: each number must be at least 1", j)
	}
	for _, f := range j.Fields {
		if f.ChunkSamples < 1 || f.ChunkBytes < 1 {
			return fmt.Errorf("chunks of %d samples and %d bytes cannot be: both must be at least 1", f.ChunkSamples, f.ChunkBytes)
		}
	}
	return nil
}

// steps is the steps of an epoch.
func (j Job) steps() float64 {
	return math.Ceil(float64(j.Samples) / float64(j.StepSamples) / float64(j.Nodes))
}
