package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"solarfs/h5backend"
	"solarfs/planner"
)

// jobFlags describe a training job: what is read, by whom, in which order.
func jobFlags() []cli.Flag {
	return append([]cli.Flag{
		configFlag(),
		&cli.StringSliceFlag{Name: "data", Usage: "HDF5 file, directory or glob at `PATH`; repeatable. Files are joined along axis 0 in natural sort order of their paths, whatever order they are given in", EnvVars: env("data")},
		&cli.StringSliceFlag{Name: "field", Usage: "dataset `NAME[=ALIAS]`; repeatable (default: every dataset as long as the longest)", EnvVars: env("field")},
		undefaulted{&cli.IntFlag{Name: "epochs", Usage: "number of epochs, `N`; required without a plan", EnvVars: env("epochs")}},
		undefaulted{&cli.IntFlag{Name: "batch-size", Usage: "samples per rank and step, `N`; required without a plan", EnvVars: env("batch-size")}},
		&cli.IntFlag{Name: "nodes", Value: 1, Usage: "number of nodes, `N`", EnvVars: env("nodes")},
		&cli.IntFlag{Name: "ranks-per-node", Value: 1, Usage: "training processes on each node, `N`", EnvVars: env("ranks-per-node")},
		&cli.Int64Flag{Name: "seed", Usage: "the script's `SEED`, as DistributedSampler(seed=SEED)", EnvVars: env("seed")},
		&cli.StringFlag{Name: "order", Value: planner.OrderTorch, Usage: "`ORDER` of the samples: torch (DistributedSampler's), sequential, or block (a weaker shuffle: chunks in random order, samples shuffled within what a buffer holds; each chunk is read once per epoch)", EnvVars: env("order")},
		&cli.BoolFlag{Name: "drop-last", Usage: "as drop_last=True of DistributedSampler and DataLoader", EnvVars: env("drop-last")},
		strategyFlag(),
		maxImbalanceFlag(),
		&cli.StringFlag{Name: "memory", Usage: "what one node's mount may use, `SIZE`; up to 64 MiB for Go's runtime and kernel requests come on top (default: half of what the machine that plans, or its cgroup, has)", EnvVars: env("memory")},
		&cli.StringFlag{Name: "buffer", Usage: "of it for samples kept between uses, `SIZE` (default: with --window, what that leaves; else the split with the least predicted time)", EnvVars: env("buffer")},
		&cli.StringFlag{Name: "window", Usage: "of it for what is read ahead, `SIZE` (default: with --buffer, what that leaves; else the split with the least predicted time)", EnvVars: env("window")},
	}, speedFlags()...)
}

// job is a plan and the data it is for.
type job struct {
	plan   planDoc
	set    *h5backend.Set
	series epochSeries // for --report

	file *os.File // the plan file, for its snapshots; nil: none
	base int64    // where its document ends

	begun atomic.Pointer[planner.Schedule] // of a plan file, its first epoch planned; nil: taken, or none
}

func (j *job) close() {
	j.set.Close()
	j.file.Close() // does nothing without one
}

// newJob opens the data that the flags name and plans all epochs. The caller
// closes the set.
func newJob(c *cli.Context) (*job, error) {
	files, err := h5backend.Resolve(c.StringSlice("data"))
	if err != nil {
		return nil, err
	}
	if err := checkOutputs(c, files); err != nil {
		return nil, err
	}
	set, err := h5backend.Open(files, c.StringSlice("field"))
	if err != nil {
		return nil, err
	}
	j := &job{set: set}
	if err := j.makePlan(c); err != nil {
		set.Close()
		return nil, err
	}
	return j, nil
}

func (j *job) makePlan(c *cli.Context) error {
	began := time.Now()
	spec := planner.Spec{
		Samples: j.set.Samples(), Nodes: c.Int("nodes"), RanksPerNode: c.Int("ranks-per-node"),
		BatchSize: c.Int("batch-size"), Epochs: c.Int("epochs"), Seed: c.Int64("seed"), Order: c.String("order"),
		DropLast: c.Bool("drop-last"), ChunkSamples: j.set.ChunkSamples(), Chunk: wholeChunk(j.set),
	}
	if spec.Order == planner.OrderBlock {
		spec.BlockChunks = 1 // until the buffer is known
	}
	if spec.Epochs <= 0 || spec.BatchSize <= 0 {
		return wrongUse("give --epochs and --batch-size (per rank), both at least 1")
	}
	spec, err := withStrategy(c, spec)
	if err != nil {
		return err
	}
	speed, err := speedFromFlags(c, j.set, c.Command.Name == "plan" || spec.Nodes == 1)
	if err != nil {
		return err
	}
	memory, err := splitFromFlags(c, spec, j.set, speed)
	if err != nil {
		return err
	}
	spec.BufferSamples = bufferSamples(memory, spec, j.set)
	if spec.Order == planner.OrderBlock && spec.Chunk <= 1 {
		spec.Chunk = blockSamples(spec, j.set)
	}
	spec.BlockChunks = blockChunks(spec)
	if spec.Strategy == planner.Solar {
		spec.Visit = planner.NewEpochGraph(spec).Best().Order
	}
	bar := newProgress(c.App.ErrWriter, spec.Epochs)
	defer bar.done()
	bar.says("planning")
	snaps := snapshots{every: resumeRule.every(spec)}
	report, err := planner.MakeReport(spec, func(e *planner.Epoch, next *planner.Schedule) {
		if e.Index == closerEpoch(spec.Epochs) && c.String("report") != "" {
			j.series = newEpochSeries(spec, e)
		}
		if c.Command.Name == "plan" {
			snaps.take(spec, next)
		}
		bar.add(1)
	})
	if err == nil {
		err = snaps.err
	}
	if err != nil {
		return err
	}
	j.plan = planDoc{
		Report: report, Spec: spec, Memory: memory, FieldArgs: append([]string{}, c.StringSlice("field")...),
		SampleBytes: sampleBytes(j.set), Fields: fieldDocs(j.set), LeftOut: append([]h5backend.LeftOut{}, j.set.LeftOut()...), Files: j.set.Files(),
		Storage: speed, Snapshots: snaps.docs, snapshotData: snaps.data,
	}
	j.plan.FirstEpochSeconds, j.plan.EpochSeconds = epochSeconds(memory, speed, spec, j.set, report)
	j.plan.PlanSeconds = time.Since(began).Seconds()
	return nil
}

// checkTarget refuses a file that could not be written in the end, before the
// work is done that it is for.
func checkTarget(flag, path string) error {
	if path == "" {
		return nil
	}
	err := unix.Access(filepath.Dir(path), unix.W_OK|unix.X_OK)
	switch {
	case isDir(path):
		err = unix.EISDIR
	case special(path):
		err = unix.Access(path, unix.W_OK)
	}
	if err != nil {
		return wrongUse("%s %s: it cannot be written there: %w", flag, path, err)
	}
	return nil
}

// special tells whether something stands at path that is written into, not replaced: a device or a pipe.
func special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// checkOutputs refuses outputs that would overwrite the data or each other.
func checkOutputs(c *cli.Context, data []string) error {
	outputs := []string{"o", "report"}
	for i, flag := range outputs {
		path := c.String(flag)
		if c.Command.Name != "plan" || path == "" {
			continue
		}
		for _, other := range data {
			if sameFile(path, other) {
				return wrongUse("%s %s is one of the data files; give another", dashed(flag), path)
			}
		}
		for _, before := range outputs[:i] {
			if other := c.String(before); other != "" && (filepath.Clean(path) == filepath.Clean(other) || sameFile(path, other)) {
				return wrongUse("%s and %s are both %s; give two files", dashed(before), dashed(flag), path)
			}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil || special(a) {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// absolute makes a path mean the same in a daemon, which works in /.
func absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	return abs, nil
}

// writeFile writes a file whole or not at all: ranks on other nodes may be waiting for it. Links are followed, devices and pipes written into.
func writeFile(path string, data []byte) error {
	if special(path) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".solarfs-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
