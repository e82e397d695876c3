package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"solarfs/examples"
)

// The demo's job: PtychoNN's shapes on two nodes of two ranks.
const (
	demoSamples = 20000
	demoNodes   = 2
	demoRanks   = 2 // per node
	demoBatch   = 64
	demoEpochs  = 3
	demoWindow  = "64MiB"
	// The Python that Debian's torch and h5py belong to; another one that is
	// first on PATH lacks them.
	python = "/usr/bin/python3"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "make data, plan, mount two nodes here, train with PyTorch, and compare with DataLoader",
		UsageText: "solarfs demo [--dir DIR]\n\nExample: solarfs demo\n\n" +
			"Needs /usr/bin/python3 with torch and h5py, 2 GiB of disk and 3 GiB of memory.",
		Flags: []cli.Flag{
			configFlag(),
			&cli.StringFlag{Name: "dir", Usage: "work in `DIR` and leave the data there (default: a temporary directory, removed at the end)", EnvVars: env("dir")},
			&cli.IntFlag{Name: "samples", Value: demoSamples, Usage: "number of samples in the data that are made, `N`", EnvVars: env("samples")},
		},
		Action: demoAction,
	}
}

func demoAction(c *cli.Context) error {
	if c.Int("samples") < demoNodes*demoRanks*demoBatch {
		return wrongUse("--samples %d is less than one global batch; give at least %d", c.Int("samples"), demoNodes*demoRanks*demoBatch)
	}
	dir := c.String("dir")
	if dir == "" {
		temporary, err := os.MkdirTemp("", "solarfs-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	dir, err := absolute(dir)
	if err != nil {
		return err
	}
	d := &demo{dir: dir, samples: c.Int("samples"), out: c.App.Writer, log: c.App.ErrWriter}
	ctx, stop := untilSignal(c.Context)
	defer stop()
	return d.run(ctx)
}

// demo is one run of the whole way, from making data to the table.
type demo struct {
	dir      string
	samples  int
	out, log io.Writer
	plan     planDoc
}

func (d *demo) run(ctx context.Context) error {
	if err := os.CopyFS(filepath.Join(d.dir, "scripts"), examples.Scripts); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	d.say("making %d samples shaped like PtychoNN's", d.samples)
	if err := d.python(ctx, nil, "make_ptychonn.py", d.path("train.h5"), "--samples", strconv.Itoa(d.samples)); err != nil {
		return err
	}
	d.say("planning %d nodes x %d ranks x batch %d, %d epochs, buffers for half the samples", demoNodes, demoRanks, demoBatch, demoEpochs)
	if err := d.makePlan(ctx); err != nil {
		return err
	}
	d.say("training from two mounts")
	ours, nodes, err := d.trainMounted(ctx)
	if err != nil {
		return err
	}
	d.say("training the same from DataLoader, h5py and DistributedSampler")
	theirs, err := d.train(ctx, "h5py", func(int) []string {
		return []string{"--data", d.path("train.h5"), "--batch-size", strconv.Itoa(demoBatch)}
	})
	if err != nil {
		return err
	}
	printDemo(d.out, &d.plan, nodes, ours, theirs)
	return nil
}

func (d *demo) path(name string) string { return filepath.Join(d.dir, name) }

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.log, "demo: "+format+"\n", args...) }

func (d *demo) makePlan(ctx context.Context) error {
	const bytesPerSample = 3 * 64 * 64 * 4
	buffer := d.samples * bytesPerSample / 2 / demoNodes
	err := d.solarfs(ctx, "plan", "--data", d.path("train.h5"), "--nodes", strconv.Itoa(demoNodes), "--ranks-per-node", strconv.Itoa(demoRanks),
		"--batch-size", strconv.Itoa(demoBatch), "--epochs", strconv.Itoa(demoEpochs), "--buffer", strconv.Itoa(buffer)+"B", "--window", demoWindow,
		"--verify", "-o", d.path("train.plan"))
	if err != nil {
		return err
	}
	plan, err := readPlan(d.path("train.plan"))
	if err == nil {
		d.plan = *plan
	}
	return err
}

// nodeResult is what a mount says at the end of the training.
type nodeResult struct {
	status   statusDoc
	resident int64 // the most memory it ever had, in bytes
}

// trainMounted mounts all nodes, trains, and takes the mounts down whatever
// happens.
func (d *demo) trainMounted(ctx context.Context) (run trainingRun, nodes []nodeResult, err error) {
	for node := range demoNodes {
		point := d.point(node)
		if err := os.MkdirAll(point, 0o755); err != nil {
			return run, nil, err
		}
		if err := d.solarfs(ctx, "mount", "--plan", d.path("train.plan"), "--node", strconv.Itoa(node), "--daemon", "--log-file", point+".log", point); err != nil {
			return run, nil, err
		}
		defer func() {
			if e := d.solarfs(context.WithoutCancel(ctx), "umount", point); err == nil {
				err = e
			}
		}()
	}
	run, err = d.train(ctx, "solarfs", func(rank int) []string { return []string{"--mount", d.point(rank / demoRanks)} })
	if err != nil {
		return run, nil, err
	}
	for node := range demoNodes {
		s, err := readStatus(d.point(node))
		if err != nil {
			return run, nil, err
		}
		resident, err := peakResident(s.PID)
		if err != nil {
			return run, nil, err
		}
		nodes = append(nodes, nodeResult{s, resident})
	}
	return run, nodes, nil
}

func (d *demo) point(node int) string { return d.path(fmt.Sprintf("node-%d", node)) }

// trainingRun is what train_ptychonn.py reports.
type trainingRun struct {
	Epochs []struct {
		Seconds float64   `json:"seconds"`
		Samples int       `json:"samples"`
		Losses  []float64 `json:"losses"` // mean over all ranks, step by step
	} `json:"epochs"`
}

// train runs one process per rank; args are those of a rank's loader.
func (d *demo) train(ctx context.Context, loader string, args func(rank int) []string) (trainingRun, error) {
	var run trainingRun
	port, err := freePort()
	if err != nil {
		return run, err
	}
	out := d.path(loader + ".json")
	group, ctx := errgroup.WithContext(ctx)
	for rank := range demoNodes * demoRanks {
		env := []string{"MASTER_ADDR=127.0.0.1", fmt.Sprintf("MASTER_PORT=%d", port), fmt.Sprintf("RANK=%d", rank), fmt.Sprintf("WORLD_SIZE=%d", demoNodes*demoRanks)}
		line := append([]string{"train_ptychonn.py", "--loader", loader, "--epochs", strconv.Itoa(demoEpochs), "--out", out}, args(rank)...)
		group.Go(func() error { return d.python(ctx, env, line...) })
	}
	if err := group.Wait(); err != nil {
		return run, err
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return run, err
	}
	return run, json.Unmarshal(text, &run)
}

func (d *demo) python(ctx context.Context, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, python, append([]string{filepath.Join(d.dir, "scripts", args[0])}, args[1:]...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = d.log, d.log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// solarfs runs a command of this program as a user would.
func (d *demo) solarfs(ctx context.Context, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Stdout, cmd.Stderr = d.log, d.log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("solarfs %s: %w", args[0], err)
	}
	return nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
