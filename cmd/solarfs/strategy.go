package main

import (
	"github.com/urfave/cli/v2"

	"solarfs/planner"
)

// solarImbalance is how uneven batches may be that strategy solar makes, unless told otherwise: to trade even batches for even loads is its method.
const solarImbalance = .5

func maxImbalanceFlag() cli.Flag {
	return &cli.Float64Flag{Name: "max-imbalance", DefaultText: "0: all batches equal; 0.5 with strategy solar",
		Usage: "how far a rank's batch may leave batch-size, as a fraction `F` of it; weights.npy carries the correction", EnvVars: env("max-imbalance")}
}

// maxImbalance is what the flag says, or the strategy's default.
func maxImbalance(c *cli.Context, strategy string) float64 {
	if strategy == planner.Solar && !c.IsSet("max-imbalance") {
		return solarImbalance
	}
	return c.Float64("max-imbalance")
}

// blockChunks is within how many chunks order block shuffles: as many as a node's buffer holds beside a step.
func blockChunks(s planner.Spec) int {
	if s.Order != planner.OrderBlock {
		return 0
	}
	return max(1, (s.BufferSamples-s.RanksPerNode*s.BatchSize)/max(1, s.Chunk))
}
