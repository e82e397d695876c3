package main

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"solarfs/planner"
)

func planCommand() *cli.Command {
	return &cli.Command{
		Name:  "plan",
		Usage: "plan a job: its loads against the least possible, and a file that every node mounts by",
		UsageText: "solarfs plan --data PATH --epochs N --batch-size N [flags]\n\n" +
			"Example: solarfs plan --data train.h5 --nodes 4 --ranks-per-node 4 --batch-size 64 --epochs 100 --buffer 40GiB -o train.plan",
		Flags: append(jobFlags(),
			&cli.StringFlag{Name: "o", Usage: "write the plan to `FILE`, on storage that all nodes see"},
			&cli.BoolFlag{Name: "verify", Usage: "execute the plan on simulated buffers and check it sample by sample", EnvVars: env("verify")},
			&cli.StringFlag{Name: "report", Usage: "write a page with charts to `FILE`", EnvVars: env("report")},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object", EnvVars: env("json")},
		),
		Action: planAction,
	}
}

func planAction(c *cli.Context) error {
	if c.Args().Present() {
		return wrongUse("solarfs plan takes flags only; %q is none (data go behind --data)", c.Args().First())
	}
	path := c.String("o")
	if err := checkTarget("-o", path); err != nil {
		return err
	}
	if err := checkTarget("--report", c.String("report")); err != nil {
		return err
	}
	j, err := newJob(c)
	if err != nil {
		return err
	}
	defer j.close()
	if c.Bool("verify") {
		if err := planner.Verify(j.plan.Spec); err != nil {
			return fmt.Errorf("the plan is wrong, do not use it: %w", err)
		}
		fmt.Fprintln(c.App.ErrWriter, "verified: every epoch a permutation, every global batch unchanged, every hit in its buffer")
	}
	if path != "" {
		if err := writeFile(path, append(j.plan.json(), j.plan.snapshotData...)); err != nil {
			return fmt.Errorf("write the plan: %w", err)
		}
		defer fmt.Fprintf(c.App.ErrWriter, "wrote %s; mount by it on each node: solarfs mount --plan %s DIR\n", path, path)
	}
	if page := c.String("report"); page != "" {
		if err := writePage(page, j.page(c)); err != nil {
			return err
		}
		defer fmt.Fprintf(c.App.ErrWriter, "wrote %s\n", page)
	}
	if c.Bool("json") {
		_, err = c.App.Writer.Write(j.plan.json())
		return err
	}
	printPlan(c.App.Writer, &j.plan)
	return nil
}

func printPlan(w io.Writer, d *planDoc) {
	fmt.Fprintf(w, "%s of %d bytes, %s of %s; %s, %s x batch %d\n", count(d.Samples, "sample"), d.SampleBytes,
		count(d.Epochs, "epoch"), count(d.StepsPerEpoch, "step"), count(d.Nodes, "node"), count(d.Ranks, "rank"), d.BatchSize)
	fmt.Fprintf(w, "fields: %s\n", joined(d.Fields))
	if left := d.leftOutText(); left != "" {
		fmt.Fprintf(w, "left out: %s\n", left)
	}
	fmt.Fprintf(w, "memory per node: %s; the buffer holds %s\n", d.Memory, count(d.BufferSamples, "sample"))
	fmt.Fprintf(w, "storage per node: %s; with this memory reading is predicted to take %s per epoch, %s in the first\n", d.Storage, secondsText(d.EpochSeconds), secondsText(d.FirstEpochSeconds))
	fmt.Fprintf(w, "loads: %d, the least possible is %d; hit rate %.1f %%\n", d.Loads, d.LoadsBound, 100*d.HitRate)
	if d.LoadsRiders > 0 {
		fmt.Fprintf(w, "of these %d ride along with a chunk that is read anyway, and are kept for later\n", d.LoadsRiders)
	} else if d.LoadsForced > 0 && d.Strategy == planner.Balanced && d.Spec.MaxImbalance == 0 {
		fmt.Fprintf(w, "of these %d because batches are equal though a node holds more of a batch than its share\n", d.LoadsForced)
	}
	if d.LoadsPadded > 0 {
		fmt.Fprintf(w, "and %d because DistributedSampler repeats samples to give all ranks the same number\n", d.LoadsPadded)
	}
	fmt.Fprint(w, exactOrderText(d.Report, d.Spec.Order, d.Spec.Chunk))
	if n := len(d.Snapshots); n > 0 {
		fmt.Fprintf(w, "a mount can start late or jump: the plan file holds %s of who holds what, %s in all\n", count(n, "snapshot"), bytesText(int64(len(d.snapshotData))))
	}
	if len(d.Spec.Visit) > 0 {
		fmt.Fprintln(w, "epochs are torch's in the paper's order, by overlap; spec.visit of --json says which, solarfs simulate --strategy solar what that saves")
	}
	if d.MaxBatch > d.MinBatch {
		fmt.Fprintf(w, "batches have %d to %d samples; weights.npy says what each counts\n", d.MinBatch, d.MaxBatch)
	}
	fmt.Fprintf(w, "the busiest node loads %.3f times the mean per step, %.3f over 16 steps\n", d.BusiestOverMeanStep, d.BusiestOverMean16Steps)
}

// exactOrderText says in one line what torch's order costs where chunks hold several samples; "" where it costs nothing.
func exactOrderText(r planner.Report, order string, chunk int) string {
	if r.Chunks == 0 || order == planner.OrderBlock {
		return ""
	}
	reads := r.ChunkReadsByEpoch[closerEpoch(r.Epochs)]
	times := float64(reads) / float64(r.Chunks)
	if reads <= r.Chunks {
		return fmt.Sprintf("exact order reads each chunk %.2f times per epoch (%d reads): no more than --order block, which reads each once\n", times, reads)
	}
	if r.BufferSamples < chunk+r.Ranks/r.Nodes*r.BatchSize {
		return fmt.Sprintf("exact order reads each chunk %.2f times per epoch (%d reads); a buffer for a chunk of %d samples beside a step would save most of that\n", times, reads, chunk)
	}
	return fmt.Sprintf("exact order reads each chunk %.2f times per epoch (%d reads); --order block, a weaker shuffle, would read each once and save %.0f %%\n",
		times, reads, 100*(1-1/times))
}
