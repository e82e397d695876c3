package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"solarfs/h5backend"
	"solarfs/planner"
	"solarfs/storage"
)

func simulateCommand() *cli.Command {
	return &cli.Command{
		Name:  "simulate",
		Usage: "plan a job without data: loads and seconds per epoch of any strategies, side by side",
		UsageText: "solarfs simulate --samples N --epochs N --batch-size N --buffer-share F [flags]\n\n" +
			"Example: solarfs simulate --samples 6309540 --sample-bytes 196608 --nodes 32 --batch-size 64 --epochs 5 --buffer-share 0.42 --strategy all\n\n" +
			secondsFormula,
		Flags: append(simulatedJobFlags(),
			&cli.DurationFlag{Name: "latency", Value: 2e6, Usage: "`TIME` until the storage answers a request", EnvVars: env("latency")},
			&cli.StringFlag{Name: "bandwidth", Value: "400MB", Usage: "`SIZE` that the storage gives one node per second; 0: no limit", EnvVars: env("bandwidth")},
			&cli.StringFlag{Name: "store-bandwidth", Value: "0", Usage: "`SIZE` that the whole store gives per second; 0: no limit", EnvVars: env("store-bandwidth")},
			&cli.Float64Flag{Name: "iops", Usage: "`N` requests that the storage answers to one node per second; 0: what latency and depth allow", EnvVars: env("iops")},
			&cli.StringFlag{Name: "io-depth", Value: auto, Usage: fmt.Sprintf("`N` requests of a node under way at once (auto: %d)", aheadDepth), EnvVars: env("io-depth")},
			&cli.DurationFlag{Name: "step-time", Usage: "`TIME` that a step computes; reading is hidden behind it", EnvVars: env("step-time")},
			&cli.StringFlag{Name: "report", Usage: "write a page with charts to `FILE`", EnvVars: env("report")},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object", EnvVars: env("json")},
		),
		Action: simulateAction,
	}
}

func simulatedJobFlags() []cli.Flag {
	return []cli.Flag{
		configFlag(),
		undefaulted{&cli.IntFlag{Name: "samples", Usage: "number of samples, `N`; required", EnvVars: env("samples")}},
		&cli.StringFlag{Name: "sample-bytes", Value: "64KiB", Usage: "`SIZE` of a sample", EnvVars: env("sample-bytes")},
		undefaulted{&cli.IntFlag{Name: "epochs", Usage: "number of epochs, `N`; required", EnvVars: env("epochs")}},
		undefaulted{&cli.IntFlag{Name: "batch-size", Usage: "samples per rank and step, `N`; required", EnvVars: env("batch-size")}},
		&cli.IntFlag{Name: "nodes", Value: 1, Usage: "number of nodes, `N`", EnvVars: env("nodes")},
		&cli.IntFlag{Name: "ranks-per-node", Value: 1, Usage: "training processes on each node, `N`", EnvVars: env("ranks-per-node")},
		&cli.Int64Flag{Name: "seed", Usage: "the script's `SEED`, as DistributedSampler(seed=SEED)", EnvVars: env("seed")},
		&cli.StringFlag{Name: "order", Value: planner.OrderTorch, Usage: "`ORDER` of the samples: torch, sequential, or block (chunks in random order, samples shuffled within what a buffer holds)", EnvVars: env("order")},
		&cli.BoolFlag{Name: "drop-last", Usage: "as drop_last=True of DistributedSampler and DataLoader", EnvVars: env("drop-last")},
		&cli.Float64Flag{Name: "buffer-share", Value: .5, Usage: "all buffers together over the data set, `F`", EnvVars: env("buffer-share")},
		&cli.IntFlag{Name: "chunk-samples", Value: 1, Usage: "samples of a storage chunk, `N`, which are read together", EnvVars: env("chunk-samples")},
		&cli.StringSliceFlag{Name: "strategy", Usage: "`NAME` of " + strings.Join(planner.Strategies(), ", ") + ", or all; repeatable (default: " + planner.Balanced + ")", EnvVars: env("strategy")},
		maxImbalanceFlag(),
	}
}

// simulation is what simulate prints: one row per strategy.
type simulation struct {
	Rows           []simRow     `json:"rows"`
	Storage        storageDoc   `json:"storage"`
	SecondsFormula string       `json:"seconds_formula"`
	EpochOrders    *epochOrders `json:"epoch_orders,omitempty"` // where solar is among the strategies
}

func simulateAction(c *cli.Context) error {
	if c.Args().Present() {
		return wrongUse("solarfs simulate takes flags only; %q is none", c.Args().First())
	}
	path := c.String("report")
	if err := checkTarget("--report", path); err != nil {
		return err
	}
	specs, sampleBytes, err := simulatedSpecs(c)
	if err != nil {
		return err
	}
	model, stepTime, err := storageFromFlags(c)
	if err != nil {
		return err
	}
	sim := simulation{SecondsFormula: secondsFormula, Storage: newStorageDoc(model, stepTime)}
	bar := newProgress(c.App.ErrWriter, len(specs)*specs[0].Epochs)
	defer bar.done()
	for _, spec := range specs {
		var orders planner.EpochOrders
		if spec.Strategy == planner.Solar {
			bar.says("ordering epochs")
			orders = planner.OrderEpochs(spec)
			spec.Visit = orders.Best.Order
		}
		bar.says("planning " + spec.Strategy)
		row, err := simulate(spec, sampleBytes, model, stepTime, bar)
		if err != nil {
			return err
		}
		if math.IsInf(row.Seconds, 1) {
			return wrongUse("this storage is too slow for any figure; give a larger --iops or --bandwidth, or a smaller --latency")
		}
		sim.Rows = append(sim.Rows, row)
		if spec.Strategy == planner.Solar {
			if sim.EpochOrders, err = compareOrders(spec, orders, row.Report, bar); err != nil {
				return err
			}
		}
	}
	bar.done()
	if path != "" {
		if err := writePage(path, sim.page(c)); err != nil {
			return err
		}
		defer fmt.Fprintf(c.App.ErrWriter, "wrote %s\n", path)
	}
	if c.Bool("json") {
		text, err := json.MarshalIndent(sim, "", "  ")
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(append(text, '\n'))
		return err
	}
	return sim.print(c.App.Writer)
}

// simulatedSpecs are the plans to be compared, and the bytes of a sample.
func simulatedSpecs(c *cli.Context) (specs []planner.Spec, sampleBytes int64, err error) {
	if sampleBytes, err = parseSize("sample-bytes", c.String("sample-bytes")); err != nil {
		return nil, 0, err
	}
	share := c.Float64("buffer-share")
	if !(share >= 0 && share <= 1e6) || sampleBytes < 1 {
		return nil, 0, wrongUse("--buffer-share is %v and --sample-bytes %d; give a fraction of the data set that is not negative, and at least 1 byte", share, sampleBytes)
	}
	base := planner.Spec{
		Samples: c.Int("samples"), Nodes: c.Int("nodes"), RanksPerNode: c.Int("ranks-per-node"), BatchSize: c.Int("batch-size"),
		Epochs: c.Int("epochs"), Seed: c.Int64("seed"), Order: c.String("order"), DropLast: c.Bool("drop-last"),
		Chunk: c.Int("chunk-samples"), ChunkSamples: []int{c.Int("chunk-samples")},
	}
	if base.Samples < 1 || base.Epochs < 1 || base.BatchSize < 1 {
		return nil, 0, wrongUse("give --samples, --epochs and --batch-size (per rank), each at least 1")
	}
	base.BufferSamples = int(share * float64(base.Samples) / float64(max(base.Nodes, 1)))
	base.BlockChunks = blockChunks(base)
	for _, name := range strategyNames(c) {
		spec := base
		spec.Strategy = name
		spec.MaxImbalance = maxImbalance(c, name)
		if err := spec.Validate(); err != nil {
			return nil, 0, coded{err, exitUse}
		}
		specs = append(specs, spec)
	}
	return specs, sampleBytes, nil
}

// strategyNames are those that are asked for, each once; balanced comes first of all of them.
func strategyNames(c *cli.Context) (names []string) {
	asked := c.StringSlice("strategy")
	if len(asked) == 0 {
		asked = []string{planner.Balanced}
	}
	for _, name := range asked {
		if name == "all" {
			names = append(append(names, planner.Balanced), planner.Strategies()...)
		} else {
			names = append(names, name)
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

func storageFromFlags(c *cli.Context) (m storage.Model, stepTime float64, err error) {
	m = storage.Model{Latency: c.Duration("latency").Seconds(), IOPS: c.Float64("iops"), Depth: aheadDepth}
	if depth, err := askedDepth(c); err != nil {
		return m, 0, err
	} else if depth != h5backend.Auto {
		m.Depth = depth
	}
	for _, f := range []struct {
		flag string
		to   *float64
	}{{"bandwidth", &m.Bandwidth}, {"store-bandwidth", &m.StoreBandwidth}} {
		if *f.to, err = bytesPerSecond(f.flag, c.String(f.flag)); err != nil {
			return m, 0, err
		}
	}
	if err := m.Validate(); err != nil {
		return m, 0, coded{err, exitUse}
	}
	stepTime = c.Duration("step-time").Seconds()
	if stepTime < 0 {
		return m, 0, wrongUse("--step-time is %v; give a time that is not negative", c.Duration("step-time"))
	}
	return m, stepTime, nil
}
