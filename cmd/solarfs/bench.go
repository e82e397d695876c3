package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"solarfs/cache"
)

// What bench assumes of a job that is not described.
const (
	benchEpochs    = "3"
	benchBatchSize = "64"
)

func benchCommand() *cli.Command {
	return &cli.Command{
		Name:  "bench",
		Usage: "measure the storage, run a plan's reads on it for some seconds, and say what solarfs will reach and what limits it",
		UsageText: "solarfs bench --data PATH [flags]\n\n" +
			"Example: solarfs bench --data train.h5 --batch-size 64 --memory 8GiB",
		Flags: append(append(jobFlags(), readingFlags()...),
			&cli.DurationFlag{Name: "time", Value: 10 * time.Second, Usage: "`TIME` to read for, or to the plan's end", EnvVars: env("time")},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object", EnvVars: env("json")},
		),
		Action: benchAction,
	}
}

func benchAction(c *cli.Context) error {
	if c.Args().Present() {
		return wrongUse("solarfs bench takes flags only; %q is none (data go behind --data)", c.Args().First())
	}
	if c.Duration("time") <= 0 {
		return wrongUse("--time %v: give some seconds", c.Duration("time"))
	}
	asked, err := askedReading(c)
	if err != nil {
		return err
	}
	for flag, value := range map[string]string{"epochs": benchEpochs, "batch-size": benchBatchSize} {
		if !c.IsSet(flag) {
			if err := c.Set(flag, value); err != nil {
				return err
			}
		}
	}
	j, err := newJob(c)
	if err != nil {
		return err
	}
	defer j.close()
	r, err := newReaders(asked, &j.plan, j.set)
	if err != nil {
		return err
	}
	doc, err := runBench(c, j, r)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return json.NewEncoder(c.App.Writer).Encode(doc)
	}
	doc.print(c.App.Writer)
	return nil
}

// runBench measures the storage, then the plan's reads.
func runBench(c *cli.Context, j *job, r readers) (*benchDoc, error) {
	bar := newProgress(c.App.ErrWriter, 2)
	defer bar.done()
	bar.says("measuring the storage")
	doc := &benchDoc{plan: &j.plan, PredictedFirst: j.plan.FirstEpochSeconds, PredictedLater: j.plan.EpochSeconds}
	paces, err := j.set.Paces(benchDepths)
	if err != nil {
		return nil, err
	}
	doc.Paces, doc.BestDepth, doc.LatencySeconds = paces, bestDepth(paces), 1/paces[0].Rate
	bar.add(1)
	bar.says("reading by the plan")
	ctx, stop := context.WithTimeout(c.Context, c.Duration("time"))
	defer stop()
	log := slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelWarn}))
	before, began, cpu := j.set.Stats(), time.Now(), cpuSeconds()
	data, err := cache.New(j.dataPlane(0, false, r, log))
	if err != nil {
		return nil, err
	}
	defer data.Close()
	if doc.Batches, err = readAll(ctx, data, j); err != nil {
		return nil, err
	}
	doc.Seconds, doc.CPUSeconds = time.Since(began).Seconds(), cpuSeconds()-cpu
	after, status := j.set.Stats(), data.Status()
	doc.Requests, doc.Bytes = after.Reads-before.Reads, after.Bytes-before.Bytes
	doc.Loads, doc.Hits, doc.Reading = status.Loads, status.Hits, newReadingDoc(r.ahead)
	doc.conclude()
	return doc, nil
}

// readAll opens the batches of node 0's ranks in the plan's order until ctx ends, and returns how many were opened.
func readAll(ctx context.Context, data *cache.Cache, j *job) (int, error) {
	spec, opened := j.plan.Spec, make([]int, j.plan.Spec.RanksPerNode)
	group, ctx := errgroup.WithContext(ctx)
	for rank := range spec.RanksPerNode {
		group.Go(func() error {
			for g := range spec.Epochs * spec.Steps() {
				for field := range j.set.Fields() {
					h, err := data.Open(ctx, cache.BatchID{Epoch: g / spec.Steps(), Step: g % spec.Steps(), Rank: rank, Field: field})
					if errors.Is(err, context.DeadlineExceeded) {
						return nil
					}
					if err != nil {
						return fmt.Errorf("read step %d of epoch %d: %w", g%spec.Steps(), g/spec.Steps(), err)
					}
					h.Close()
				}
				opened[rank]++
			}
			return nil
		})
	}
	err := group.Wait()
	total := 0
	for _, n := range opened {
		total += n
	}
	return total, err
}

// cpuSeconds is the processor time that this process has taken.
func cpuSeconds() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
