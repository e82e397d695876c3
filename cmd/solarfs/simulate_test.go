package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"solarfs/planner"
)

// solarfs runs the program and returns its exit code and what it printed.
func solarfs(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"solarfs"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func simulated(t *testing.T, args ...string) simulation {
	t.Helper()
	code, stdout, stderr := solarfs(t, append([]string{"simulate", "--json"}, args...)...)
	var sim simulation
	if err := json.Unmarshal([]byte(stdout), &sim); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	return sim
}

// TestSimulateSeconds: four nodes without a buffer load 1000 samples each in an epoch; each limit of the formula in turn.
func TestSimulateSeconds(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want float64
	}{
		{"latency", []string{"--latency", "4ms", "--bandwidth", "0", "--io-depth", "4"}, 1},
		{"iops", []string{"--latency", "0s", "--bandwidth", "0", "--iops", "100"}, 10},
		{"bandwidth", []string{"--latency", "0s", "--bandwidth", "500KB"}, 2},
		{"store", []string{"--latency", "0s", "--bandwidth", "500KB", "--store-bandwidth", "1MB"}, 4},
		{"steps", []string{"--latency", "0s", "--step-time", "1s"}, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := simulated(t, append(c.args, "--samples", "4000", "--sample-bytes", "1kB", "--nodes", "4", "--batch-size", "10", "--epochs", "2",
				"--buffer-share", "0", "--strategy", "none")...)
			row := sim.Rows[0]
			if len(row.SecondsByEpoch) != 2 || math.Abs(row.SecondsByEpoch[1]-c.want) > 1e-9 || math.Abs(row.Seconds-2*c.want) > 1e-9 {
				t.Errorf("seconds %v, %v in all; want %v each", row.SecondsByEpoch, row.Seconds, c.want)
			}
		})
	}
}

func TestSimulateAllStrategies(t *testing.T) {
	report := filepath.Join(t.TempDir(), "out.html")
	sim := simulated(t, "--samples", "20000", "--nodes", "4", "--ranks-per-node", "2", "--batch-size", "16", "--epochs", "4", "--buffer-share", "0.5",
		"--strategy", "all", "--strategy", "lru", "--report", report)
	if len(sim.Rows) != len(planner.Strategies()) || sim.Rows[0].Strategy != planner.Balanced {
		t.Fatalf("%d rows, the first of %s", len(sim.Rows), sim.Rows[0].Strategy)
	}
	for _, r := range sim.Rows {
		if r.Loads < r.LoadsBound || len(r.SecondsByEpoch) != 4 || r.Seconds <= 0 || r.SampleBytes != 64<<10 || r.Digest == "" {
			t.Errorf("%s: %+v", r.Strategy, r)
		}
		if even := r.MaxBatch == 16 && r.MinBatch == 16; even == (r.Strategy == planner.Solar) {
			t.Errorf("%s: batches of %d to %d", r.Strategy, r.MinBatch, r.MaxBatch)
		}
	}
	if o := sim.EpochOrders; o == nil || o.Best.Cost > o.Swarm.Cost || o.Best.Cost > o.Torch.Cost || len(o.Best.Order) != 4 || o.Torch.LoadsSaved != 0 {
		t.Errorf("epoch orders %+v", o)
	}
	page, err := os.ReadFile(report)
	if err != nil || !bytes.Contains(page, []byte("locality")) {
		t.Errorf("report of %d bytes, %v", len(page), err)
	}
}

// TestSimulateChunks: order block reads each chunk once, exact order more often with little memory.
func TestSimulateChunks(t *testing.T) {
	args := []string{"--samples", "32768", "--chunk-samples", "16", "--batch-size", "64", "--nodes", "2", "--epochs", "3", "--buffer-share", "0.1"}
	exact, block := simulated(t, args...).Rows[0], simulated(t, append(args, "--order", "block")...).Rows[0]
	if exact.Chunks != 2048 || exact.ChunkReadsByEpoch[1] < 2*2048 || block.ChunkReadsByEpoch[1] > 2048+2 {
		t.Errorf("of %d chunks exact order reads %v, block order %v", exact.Chunks, exact.ChunkReadsByEpoch, block.ChunkReadsByEpoch)
	}
}

func TestSimulateRefuses(t *testing.T) {
	good := []string{"--samples", "100", "--batch-size", "4", "--epochs", "2"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "--samples, --epochs and --batch-size"},
		{[]string{"--strategy", "magic"}, `no strategy "magic"`},
		{[]string{"--samples", "4294967296"}, "samples is 4294967296"},
		{[]string{"--buffer-share", "-1"}, "--buffer-share"},
		{[]string{"--buffer-share", "NaN"}, "--buffer-share"},
		{[]string{"--sample-bytes", "much"}, `"much" is no size`},
		{[]string{"--sample-bytes", "0"}, "--sample-bytes"},
		{[]string{"--chunk-samples", "0"}, "samples per storage chunk"},
		{[]string{"--chunk-samples", "-3"}, "samples per chunk is -3"},
		{[]string{"--max-imbalance", "1"}, "max imbalance is 1"},
		{[]string{"--bandwidth", "fast"}, "--bandwidth"},
		{[]string{"--latency", "-1s"}, "latency"},
		{[]string{"--step-time", "-1s"}, "--step-time"},
		{[]string{"--io-depth", "0"}, "depth"},
		{[]string{"--iops", "1e-320"}, "too slow"},
		{[]string{"--nodes", "0"}, "nodes is 0"},
		{[]string{"--report", "/nowhere/out.html"}, "--report"},
		{[]string{"surplus"}, "takes flags only"},
	} {
		args := append([]string{"simulate"}, good...)
		if c.args == nil {
			args = args[:1]
		}
		code, stdout, stderr := solarfs(t, append(args, c.args...)...)
		if code != exitUse || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit %d, %q %q; want exit 2 and one line with %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

// A device or a pipe at the output's place is written into, a link followed; only a file is replaced.
func TestReportIsWrittenInto(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target.html"), filepath.Join(dir, "link.html")
	if err := os.WriteFile(target, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte)
	go func() {
		page, _ := os.ReadFile(pipe)
		read <- page
	}()
	for _, path := range []string{link, pipe} {
		if code, _, stderr := solarfs(t, "simulate", "--samples", "100", "--batch-size", "4", "--epochs", "2", "--report", path); code != 0 {
			t.Fatal(stderr)
		}
	}
	if page := <-read; !bytes.Contains(page, []byte("balanced")) {
		t.Errorf("%d bytes came out of the pipe", len(page))
	}
	info, err := os.Lstat(link)
	page, _ := os.ReadFile(target)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !bytes.Contains(page, []byte("balanced")) {
		t.Errorf("the link is %v (%v), its target has %d bytes", info.Mode(), err, len(page))
	}
}
