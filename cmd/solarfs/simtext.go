package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"solarfs/planner"
)

// print writes the strategies side by side for people. Figures of later epochs are means from the second one on.
func (s simulation) print(w io.Writer) error {
	first := s.Rows[0]
	fmt.Fprintf(w, "%s of %s, %s of %s; %s, %s x batch %d; buffers hold %.3g of the set\n", count(first.Samples, "sample"), bytesText(first.SampleBytes),
		count(first.Epochs, "epoch"), count(first.StepsPerEpoch, "step"), count(first.Nodes, "node"), count(first.Ranks, "rank"), first.BatchSize, first.BufferShare)
	fmt.Fprintf(w, "the least loads possible: %d\n\n", first.LoadsBound)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "strategy\tloads\tfirst epoch\tlater epochs\tof N\tremote\thits\treads/epoch\tbusiest/mean\tover 16\tbatches\tseconds\tlater\t")
	for _, r := range s.Rows {
		later := laterMean(r.LoadsByEpoch)
		fmt.Fprintf(t, "%s\t%d\t%d\t%.0f\t%.1f%%\t%d\t%.1f%%\t%.0f\t%.3f\t%.3f\t%d-%d\t%.1f\t%.1f\t\n", r.Strategy, r.Loads, r.LoadsByEpoch[0], later,
			100*later/float64(r.Samples), r.Remote, 100*r.HitRate, laterMean(r.StorageReadsByEpoch), r.BusiestOverMeanStep, r.BusiestOverMean16Steps,
			r.MinBatch, r.MaxBatch, r.Seconds, laterMean(r.SecondsByEpoch))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if first.Strategy == planner.Balanced {
		fmt.Fprint(w, exactOrderText(first.Report, first.Order, first.ChunkSamples))
	}
	if o := s.EpochOrders; o != nil {
		solver := "greedy from every start and or-opt"
		if o.Exact {
			solver = "the exact solver"
		}
		fmt.Fprintf(w, "\nsolar's epoch order: path cost %d as torch's, %d by particle swarm, %d by %s; loads saved %d and %d\n",
			o.Torch.Cost, o.Swarm.Cost, o.Best.Cost, solver, o.Swarm.LoadsSaved, o.Best.LoadsSaved)
	}
	fmt.Fprintf(w, "\n%s\n", s.SecondsFormula)
	return nil
}

// laterMean is the mean from the second epoch on; of a single epoch, that one.
func laterMean[T int | float64](byEpoch []T) float64 {
	later := byEpoch[min(1, len(byEpoch)-1):]
	var sum T
	for _, x := range later {
		sum += x
	}
	return float64(sum) / float64(len(later))
}
