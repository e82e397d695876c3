package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the benchmark, built once.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "bench-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "bench")
		if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "FAIL: build bench: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// started is a run on the slow store, with temporary files and data of its own.
func started(t *testing.T, args ...string) (cmd *exec.Cmd, temporary string) {
	t.Helper()
	dir := t.TempDir()
	temporary = filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(program, append([]string{"--suite", "quick", "--storage", slow, "--samples", "1400", "--share", "0.5", "--cache", filepath.Join(dir, "data")}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	return cmd, temporary
}

// nothingLeft looks for mounts, processes and files of a run.
func nothingLeft(t *testing.T, temporary string) {
	t.Helper()
	if mounts := whole("/proc/self/mounts"); strings.Contains(mounts, temporary) {
		t.Errorf("left mounted:\n%s", mounts)
	}
	left, err := filepath.Glob(temporary + "/*")
	if err != nil || len(left) > 0 {
		t.Errorf("left: %q %v", left, err)
	}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if line := whole(path); strings.Contains(line, temporary) {
			t.Errorf("%s runs: %q", filepath.Dir(path), line)
		}
	}
}

func TestRun(t *testing.T) {
	cmd, temporary := started(t, "--data", "g1", "--system", ourSystem, "--system", loader, "--workers", "0", "--seconds", "0.2")
	file := filepath.Join(t.TempDir(), "r.json")
	cmd.Args = append(cmd.Args, "--json", file)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "x best loader") {
		t.Fatalf("%v\n%s", err, out)
	}
	nothingLeft(t, temporary)
	var r Result
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || len(r.Rows) != 3 || len(r.Skipped) > 0 || r.Rows[0].System != "DataLoader w0" {
		t.Fatalf("%v; %d rows, skipped %q", err, len(r.Rows), r.Skipped)
	}
	for _, row := range r.Rows {
		if row.SamplesPerSecond <= 0 || row.OverBest <= 0 || row.Requests == nil || *row.Requests <= 0 {
			t.Errorf("%+v", row)
		}
	}
}

// A run that is interrupted leaves nothing behind.
func TestInterrupt(t *testing.T) {
	cmd, temporary := started(t, "--data", "c64", "--system", ourSystem, "--system", raw)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() && !strings.Contains(lines.Text(), "depth 16") {
	}
	time.Sleep(300 * time.Millisecond) // reading on, or mounting
	cmd.Process.Signal(syscall.SIGINT)
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(last, "ended by a signal") {
		t.Errorf("ended with %v and %q", err, last)
	}
	nothingLeft(t, temporary)
}

func TestRefuses(t *testing.T) {
	for args, says := range map[string]string{
		"--suite slow":        "give full or quick",
		"--storage tape":      `none of`,
		"--share 1.5":         "at most 1",
		"--samples 3":         "give 256 or more",
		"--from /dev/null":    "that --json wrote",
		"quick":               "said by flags",
		"--data c64,nonsense": "none of",
	} {
		err := run(t.Context(), append([]string{"bench"}, strings.Fields(args)...), io.Discard)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
