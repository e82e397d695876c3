package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"solarfs/h5backend"
	"solarfs/planner"
)

// jobFlags describe a training job: what is read, by whom, in which order.
func jobFlags() []cli.Flag {
	return []cli.Flag{
		configFlag(),
		&cli.StringSliceFlag{Name: "data", Usage: "HDF5 file, directory or glob at `PATH`; repeatable, joined along axis 0", EnvVars: env("data")},
		&cli.StringSliceFlag{Name: "field", Usage: "dataset `NAME[=ALIAS]`; repeatable (default: every dataset as long as the longest)", EnvVars: env("field")},
		&cli.IntFlag{Name: "epochs", Usage: "`N`umber of epochs", EnvVars: env("epochs")},
		&cli.IntFlag{Name: "batch-size", Usage: "samples per rank and step, `N`", EnvVars: env("batch-size")},
		&cli.IntFlag{Name: "nodes", Value: 1, Usage: "`N`umber of nodes", EnvVars: env("nodes")},
		&cli.IntFlag{Name: "ranks-per-node", Value: 1, Usage: "training processes on each node, `N`", EnvVars: env("ranks-per-node")},
		&cli.Int64Flag{Name: "seed", Usage: "the script's `SEED`, as DistributedSampler(seed=SEED)", EnvVars: env("seed")},
		&cli.StringFlag{Name: "order", Value: planner.OrderTorch, Usage: "torch (DistributedSampler's) or sequential", EnvVars: env("order")},
		&cli.BoolFlag{Name: "drop-last", Usage: "as drop_last=True of DistributedSampler and DataLoader", EnvVars: env("drop-last")},
		&cli.StringFlag{Name: "memory", Usage: "all that one node's mount may use, `SIZE` (default: half of what the process may use)", EnvVars: env("memory")},
		&cli.StringFlag{Name: "buffer", Usage: "of it: samples kept between uses, `SIZE` (default: what the window leaves)", EnvVars: env("buffer")},
		&cli.StringFlag{Name: "window", Usage: "of it: batches made ahead, `SIZE` (default: a quarter)", EnvVars: env("window")},
	}
}

// job is a plan and the data it is for.
type job struct {
	plan planDoc
	set  *h5backend.Set
}

// newJob opens the data that the flags name and plans all epochs. The caller
// closes the set.
func newJob(c *cli.Context) (*job, error) {
	files, err := h5backend.Resolve(c.StringSlice("data"))
	if err != nil {
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
		DropLast: c.Bool("drop-last"), ChunkSamples: j.set.ChunkSamples(),
	}
	if spec.Epochs <= 0 || spec.BatchSize <= 0 {
		return wrongUse("give --epochs and --batch-size (per rank), both at least 1")
	}
	if err := spec.Validate(); err != nil {
		return coded{err, exitUse}
	}
	memory, err := splitFromFlags(c, spec, j.set)
	if err != nil {
		return err
	}
	spec.BufferSamples = bufferSamples(memory, spec, j.set)
	report, err := planner.MakeReport(spec, nil)
	if err != nil {
		return err
	}
	j.plan = planDoc{
		Report: report, Spec: spec, Memory: memory, FieldArgs: c.StringSlice("field"),
		SampleBytes: sampleBytes(j.set), Fields: fieldDocs(j.set), Files: j.set.Files(),
		PlanSeconds: time.Since(began).Seconds(),
	}
	return nil
}

// planFlags are those of a job that a plan has settled; beside --plan they may
// only repeat what it says.
var settled = []string{"data", "field", "epochs", "batch-size", "seed", "order", "drop-last", "memory", "buffer", "window"}

// openJob opens the plan file at path and its data, and refuses data that are
// not those that were planned.
func openJob(c *cli.Context, path string) (*job, error) {
	for _, flag := range settled {
		if c.IsSet(flag) {
			return nil, wrongUse("--%s is settled by the plan %s; leave it out, or make another plan", flag, path)
		}
	}
	doc, err := readPlan(path)
	if err != nil {
		return nil, err
	}
	for flag, planned := range map[string]int{"nodes": doc.Spec.Nodes, "ranks-per-node": doc.Spec.RanksPerNode} {
		if c.IsSet(flag) && c.Int(flag) != planned {
			return nil, mismatch("--%s is %d, but the plan %s is for %d; make a plan for the job as it is", flag, c.Int(flag), path, planned)
		}
	}
	var files []string
	for _, f := range doc.Files {
		files = append(files, f.Path)
	}
	set, err := h5backend.Open(files, doc.FieldArgs)
	if err != nil {
		return nil, mismatch("the plan %s does not fit its data: %w", path, err)
	}
	if err := doc.fits(set); err != nil {
		set.Close()
		return nil, mismatch("the plan %s does not fit its data: %w; make the plan anew", path, err)
	}
	return &job{plan: *doc, set: set}, nil
}

// absolute makes a path mean the same in a daemon, which works in /.
func absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	return abs, nil
}

func writeFile(path string, data []byte) error {
	// Whole or not at all: ranks on other nodes may be waiting for the file.
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
