package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"solarfs/h5backend"
	"solarfs/planner"
)

// mountable are the strategies that a mount can run: no node reads another's memory.
func mountable() []string {
	return slices.DeleteFunc(planner.Strategies(), func(name string) bool { return !planner.Mountable(name) })
}

func strategyFlag() cli.Flag {
	return &cli.StringFlag{Name: "strategy", Value: planner.Balanced, EnvVars: env("strategy"),
		Usage: "who reads and keeps which sample, by `NAME`: " + strings.Join(mountable(), ", ") + "; solar is the paper's, those beside it and balanced what other systems do, for comparison"}
}

// withStrategy fills in what the strategy flags say, and refuses what is wrong in the spec.
func withStrategy(c *cli.Context, spec planner.Spec) (planner.Spec, error) {
	spec.Strategy = c.String("strategy")
	spec.MaxImbalance = maxImbalance(c, spec.Strategy)
	if err := spec.Validate(); err != nil {
		return spec, coded{err, exitUse}
	}
	if !planner.Mountable(spec.Strategy) {
		return spec, wrongUse("--strategy %s has nodes read each other's memory, which a mount cannot; give one of %s", spec.Strategy, strings.Join(mountable(), ", "))
	}
	return spec, nil
}

// wholeChunk is how many samples one storage read brings: those of a chunk of the field with the most bytes, where its chunks are decoded
// whole. 0: one.
func wholeChunk(set *h5backend.Set) int {
	fields, largest := set.Fields(), 0
	for i, f := range fields {
		if f.Bytes > fields[largest].Bytes {
			largest = i
		}
	}
	if n := set.WholeChunkSamples()[largest]; n > 1 {
		return n
	}
	return 0
}

// blockSamples is how many samples order block takes for a block where there are no chunks: about a megabyte, and not more than a
// quarter of what the buffer holds beside a step.
func blockSamples(spec planner.Spec, set *h5backend.Set) int {
	const blockBytes = 1 << 20
	return max(1, min(int(blockBytes/sampleBytes(set)), (spec.BufferSamples-spec.RanksPerNode*spec.BatchSize)/4))
}
