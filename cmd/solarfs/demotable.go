package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
)

// printDemo prints the demo's one table, per epoch, with what was measured.
func printDemo(w io.Writer, plan *planDoc, nodes []nodeResult, ours, theirs trainingRun) {
	fmt.Fprintf(w, "\n%d samples, %d nodes x %d ranks x batch %d; each node keeps %d samples; batches served by %s\n\n",
		plan.Samples, plan.Nodes, plan.Ranks/plan.Nodes, plan.BatchSize, plan.BufferSamples, nodes[0].status.Serving)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "epoch\tloads\tbound\thit rate\twaited s per rank\tsamples/s\tDataLoader samples/s\t")
	for e := range ours.Epochs {
		var hits, loads int64
		var waited float64
		for _, n := range nodes {
			row := n.status.Epochs[e]
			hits, loads, waited = hits+row.Hits, loads+row.Loads, waited+row.StallSeconds
		}
		fmt.Fprintf(t, "%d\t%d\t%d\t%.1f %%\t%.2f\t%.0f\t%.0f\t\n", e, loads, epochBound(plan, e), 100*float64(hits)/float64(hits+loads),
			waited/float64(plan.Ranks), rate(ours, e), rate(theirs, e))
	}
	t.Flush()
	fmt.Fprint(w, "\nbound: the least loads possible with these buffers; waited: for batches that were not made yet.\n"+
		"The data are in the page cache, all ranks share this machine, and DataLoader has num_workers=0: compare loads, hits and losses, not speed.\n")
	fmt.Fprintf(w, "\nlargest difference between the two loss curves: %.2g (losses from %.3f to %.3f)\n",
		largestDifference(ours, theirs), firstLoss(ours), lastLoss(ours))
	for _, n := range nodes {
		fmt.Fprintf(w, "node %d: resident memory at most %s; --memory is %s, up to 64 MiB for Go's runtime and kernel requests come on top\n",
			n.status.Node, bytesText(n.resident), bytesText(n.status.Memory.Limit))
	}
}

// epochBound is the least number of loads in an epoch.
func epochBound(plan *planDoc, epoch int) int {
	if epoch == 0 {
		return plan.Samples
	}
	return max(0, plan.Samples-plan.Nodes*plan.BufferSamples)
}

func rate(r trainingRun, e int) float64 { return float64(r.Epochs[e].Samples) / r.Epochs[e].Seconds }

func firstLoss(r trainingRun) float64 { return r.Epochs[0].Losses[0] }

func lastLoss(r trainingRun) float64 {
	last := r.Epochs[len(r.Epochs)-1].Losses
	return last[len(last)-1]
}

// largestDifference is NaN where the curves differ in length.
func largestDifference(a, b trainingRun) float64 {
	most := 0.0
	for e := range a.Epochs {
		if e >= len(b.Epochs) || len(a.Epochs[e].Losses) != len(b.Epochs[e].Losses) {
			return math.NaN()
		}
		for i, loss := range a.Epochs[e].Losses {
			most = max(most, math.Abs(loss-b.Epochs[e].Losses[i]))
		}
	}
	return most
}

// peakResident is the most resident memory that a process ever had, in bytes.
func peakResident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("process %d: no VmHWM in its status", pid)
}
