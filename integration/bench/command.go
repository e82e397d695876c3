package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// launchers are the variables by which a launcher would tell solarfs a rank.
var launchers = []string{
	"SOLARFS_NODE", "GROUP_RANK", "GROUP_WORLD_SIZE", "RANK", "WORLD_SIZE", "SLURM_NODEID", "SLURM_NNODES", "SLURM_PROCID", "SLURM_NTASKS",
	"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
}

// command is a program to run in a cgroup (nil: in this one). It has a process group of its own, so that an interrupt at the terminal ends
// this program alone, which then ends the others in their order; what is left of the group is killed when the context ends.
func (b *bench) command(ctx context.Context, g *cgroup, name string, args ...string) *exec.Cmd {
	if g != nil {
		const enter = `n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1" || exit 1; shift; n=$((n-1)); done; exec "$@"`
		entries := g.entries()
		args = append(append([]string{"-c", enter, "sh", fmt.Sprint(len(entries))}, entries...), append([]string{name}, args...)...)
		name = "/bin/sh"
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = os.Environ()
	for _, name := range launchers {
		cmd.Env = append(cmd.Env, name+"=")
	}
	return cmd
}

// python is one of the scripts, with its arguments.
func (b *bench) python(ctx context.Context, g *cgroup, script string, args ...any) *exec.Cmd {
	texts := []string{filepath.Join(b.dir, "testdata", script)}
	for _, arg := range args {
		texts = append(texts, fmt.Sprint(arg))
	}
	return b.command(ctx, g, python, texts...)
}

// job is a script that takes its job as one JSON object.
func (b *bench) job(ctx context.Context, g *cgroup, script string, job map[string]any) *exec.Cmd {
	text, err := json.Marshal(job)
	if err != nil {
		panic(err) // plain values always marshal
	}
	return b.python(ctx, g, script, string(text))
}

// output runs a command to its end and returns what it has printed.
func (b *bench) output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", failed(cmd, err, stderr.String())
	}
	return stdout.String(), nil
}

// failed is the error of a command, with the end of what it complained about.
func failed(cmd *exec.Cmd, err error, stderr string) error {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Args[0]), err, strings.Join(lines[max(0, len(lines)-3):], " / "))
}
