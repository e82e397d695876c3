package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// solarfsRows measures solarfs with the place's memory, or with each share's where the place has none.
func (b *bench) solarfsRows(ctx context.Context, p place) {
	shares := b.shares
	if p.share > 0 {
		shares = []float64{p.share}
	}
	for i, share := range shares {
		b.row(b.solarfs(ctx, p, share, false))
		if i == len(shares)/2 && p.share == 0 {
			b.row(b.solarfs(ctx, p, share, true))
		}
	}
}

// epochStatus and the others are the parts of a mount's files that are looked at.
type epochStatus struct {
	Loads  int64 `json:"loads"`
	Missed int64 `json:"riders_missed"`
}

type mountStatus struct {
	PID    int           `json:"pid"`
	Strays int64         `json:"strays"`
	Errors []string      `json:"errors"`
	Epochs []epochStatus `json:"by_epoch"`
}

type mountPlan struct {
	Loads []int64 `json:"loads_by_epoch"`
}

// solarfs measures one mount, read by one process, and checks what it has done.
func (b *bench) solarfs(ctx context.Context, p place, share float64, torch bool) (Row, error) {
	r := Row{Group: p.group, Storage: p.storage, Data: p.data.Text, System: "solarfs", Share: share}
	own := p.data.batchBytes() + 32<<20
	if torch {
		r.System = "solarfs, read by torch"
	}
	var m measurement
	var err error
	r.Memory, err = b.within(p, own, func(g *cgroup, count counter) (err error) {
		if err := p.throttle(g); err != nil {
			return err
		}
		m, err = b.mounted(ctx, p, g, count, share, torch)
		return err
	})
	if err != nil {
		return r, err
	}
	if err := b.verify(ctx, p, m); err != nil {
		return r, err
	}
	return r.measured(p.data, m), nil
}

// mounted mounts the place's data, has them read, and takes the mount down.
func (b *bench) mounted(ctx context.Context, p place, g *cgroup, count counter, share float64, torch bool) (m measurement, err error) {
	point, err := os.MkdirTemp(b.dir, "solarfs-")
	if err != nil {
		return m, err
	}
	epochs := b.epochs + 2 // one before what is measured, and one to read ahead of
	args := []string{"mount", "--daemon", "--log-file", point + ".log", "--data", p.file, "--epochs", fmt.Sprint(epochs), "--batch-size", fmt.Sprint(p.data.Batch),
		"--memory", fmt.Sprintf("%dB", p.data.memory(share))}
	if share == 1 {
		args = append(args, "--buffer", fmt.Sprintf("%dB", p.data.bytes()))
	}
	// Not ended with the context: a daemon that has just begun would be left behind.
	if _, err := b.output(b.command(context.WithoutCancel(ctx), g, b.program("solarfs"), append(args, point)...)); err != nil {
		return m, errors.Join(err, b.takeDown(point))
	}
	defer func() { err = errors.Join(err, b.takeDown(point)) }()
	var before mountStatus
	if err := readJSON(point, "status.json", &before); err != nil {
		return m, err
	}
	m, err = (&meter{count: count, daemons: []int{before.PID}}).follow(b.job(ctx, g, "batches.py", map[string]any{
		"mount": point, "epochs": epochs, "steps": p.data.steps(), "body": p.data.batchBytes(), "torch": torch,
	}))
	if err == nil {
		err = followedPlan(point, epochs-1)
	}
	if err != nil {
		err = fmt.Errorf("%w; the mount's log ends: %s", err, lastLine(point+".log"))
	}
	return m, err
}

// takeDown unmounts, and ends the daemon if that fails.
func (b *bench) takeDown(point string) error {
	if !isMounted(point) {
		return nil
	}
	var s mountStatus
	known := readJSON(point, "status.json", &s)
	_, err := b.output(b.command(context.Background(), nil, b.program("solarfs"), "umount", point))
	if err == nil {
		return nil
	}
	if known == nil {
		syscall.Kill(s.PID, syscall.SIGKILL)
	}
	return errors.Join(err, unmounted(point))
}

func readJSON(point, name string, into any) error {
	path := filepath.Join(point, ".solarfs", name)
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func lastLine(path string) string {
	lines := strings.Split(whole(path), "\n")
	return lines[len(lines)-1]
}

// followedPlan compares what a mount has done for the epochs that were read with its plan.
func followedPlan(point string, epochs int) error {
	var plan mountPlan
	var s mountStatus
	if err := errors.Join(readJSON(point, "plan.json", &plan), readJSON(point, "status.json", &s)); err != nil {
		return err
	}
	if s.Strays != 0 || len(s.Errors) > 0 {
		return fmt.Errorf("%d batches were read out of the plan's order; errors: %q", s.Strays, s.Errors)
	}
	for e := range epochs {
		if s.Epochs[e].Loads != plan.Loads[e] || s.Epochs[e].Missed != 0 {
			return fmt.Errorf("epoch %d took %d loads and missed %d riders; the plan has %d loads", e, s.Epochs[e].Loads, s.Epochs[e].Missed, plan.Loads[e])
		}
	}
	return nil
}

// verify compares batches that were read with h5py.
func (b *bench) verify(ctx context.Context, p place, m measurement) error {
	out, err := b.output(b.job(ctx, nil, "verify.py", map[string]any{"file": p.source, "batch": p.data.Batch, "digests": m.Digests}))
	if err != nil || out != "ok\n" {
		return fmt.Errorf("what was read is wrong: %s%w", out, err)
	}
	return nil
}
