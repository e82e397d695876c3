package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// rcloneMemory is what rclone's process may use in a cgroup, in bytes, beside what it has cached.
const rcloneMemory = 192 << 20

// rclone measures the DataLoader through rclone's mount of the same storage. The file is read through it once before, from its start, into
// rclone's cache, which is unbounded in effect: it drops no file that is open.
func (b *bench) rclone(ctx context.Context, p place, workers int) (Row, error) {
	r := Row{Group: p.group, Storage: p.storage, Data: p.data.Text, System: fmt.Sprintf("rclone + DataLoader w%d", workers), Share: 1}
	program, err := exec.LookPath("rclone")
	if err != nil {
		return r, fmt.Errorf("%w; install it by scripts/setup.sh bench", err)
	}
	cache, err := os.MkdirTemp(rcloneCacheRoot(p, b.dir), "solarfs-bench-rclone-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(cache)
	own, err := b.own(ctx, p, workers)
	if err != nil {
		return r, err
	}
	var m measurement
	r.Memory, err = b.within(p, own+rcloneMemory, func(g *cgroup, count counter) (err error) {
		m, err = b.throughRclone(ctx, p, g, count, program, cache, workers)
		return err
	})
	if err != nil {
		return r, err
	}
	r = r.measured(p.data, m)
	r.Note = strings.TrimPrefix(scaled(m)+"; its cache held the whole file before", "; ")
	return r, nil
}

// rcloneCacheRoot is where rclone keeps what it has read: memory where the disk is what is measured.
func rcloneCacheRoot(p place, dir string) string {
	if p.share > 0 {
		return "/dev/shm"
	}
	return dir
}

func (b *bench) throughRclone(ctx context.Context, p place, g *cgroup, count counter, program, cache string, workers int) (m measurement, err error) {
	s, err := b.serve(ctx, g, "rclone", program, func(point string) []string {
		return []string{"mount", filepath.Dir(p.file), point, "--config", os.DevNull, "--read-only", "--cache-dir", cache,
			"--vfs-cache-mode", "full", "--vfs-read-chunk-size", "64k", "--buffer-size", "4M", "--dir-cache-time", "1h"}
	})
	if err != nil {
		return m, err
	}
	defer func() {
		if e := s.stop(); err == nil {
			err = e
		}
	}()
	file := filepath.Join(s.point, filepath.Base(p.file))
	if _, err := b.output(b.command(ctx, g, "dd", "if="+file, "of="+os.DevNull, "bs=1M")); err != nil {
		return m, fmt.Errorf("fill rclone's cache: %w", err)
	}
	if err := p.throttle(g); err != nil {
		return m, err
	}
	return b.loaderIn(ctx, p, g, &meter{count: count, daemons: []int{s.cmd.Process.Pid}}, file, workers, 1)
}
