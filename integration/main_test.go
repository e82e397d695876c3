package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const python = "/usr/bin/python3"

// program is the solarfs under test, built once.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, "FAIL: the mount tests need /dev/fuse:", err)
			return 1
		}
		fuse.Close()
		dir, err := os.MkdirTemp("", "solarfs-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "solarfs")
		build := exec.Command("go", "build", "-o", program, "solarfs/cmd/solarfs")
		if raceEnabled {
			build.Args = append(build.Args[:2], append([]string{"-race"}, build.Args[2:]...)...)
		}
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "FAIL: build solarfs: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// launcherless empties the variables by which a launcher around the tests would
// tell them a rank.
func launcherless() (env []string) {
	for _, name := range []string{
		"SOLARFS_NODE", "GROUP_RANK", "GROUP_WORLD_SIZE", "RANK", "WORLD_SIZE", "SLURM_NODEID", "SLURM_NNODES", "SLURM_PROCID", "SLURM_NTASKS",
		"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
	} {
		env = append(env, name+"=")
	}
	return env
}

// result is how a program ended.
type result struct {
	stdout, stderr string
	code           int
}

// run runs a command line with an input and fails the test if it cannot start
// or takes longer than a minute.
func run(t testing.TB, input string, name string, args ...string) result {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	cmd.Env = append(os.Environ(), launcherless()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(4*time.Minute, func() { cmd.Process.Signal(syscall.SIGQUIT) })
	err := cmd.Wait()
	if !timer.Stop() {
		t.Fatalf("%s %v took too long\n%s%s", name, args, &stdout, &stderr)
	}
	r := result{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
	if err != nil && r.code < 0 {
		t.Fatalf("%s %v: %v\n%s", name, args, err, r.stderr)
	}
	return r
}

// solarfs runs the program and wants exit code 0.
func solarfs(t testing.TB, args ...string) string {
	t.Helper()
	r := run(t, "", program, args...)
	if r.code != 0 {
		t.Fatalf("solarfs %v: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}

// makeData makes HDF5 files of n samples in the given layout.
func makeData(t testing.TB, layout string, n, files int) []string {
	t.Helper()
	dir := t.TempDir()
	args := []string{"testdata/make.py", layout, fmt.Sprint(n)}
	var paths []string
	for i := range files {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("part%d.h5", i+1)))
	}
	if r := run(t, "", python, append(args, paths...)...); r.code != 0 {
		t.Fatalf("make data: %s", r.stderr)
	}
	return paths
}

// status is the part of status.json that tests look at.
type status struct {
	PID    int
	Hits   int64
	Loads  int64
	Riders int64
	Missed int64 `json:"riders_missed"`
	Strays int64
	Memory struct{ Limit, Buffer, Window, Batches, Ahead int64 }
	Errors []string

	Serving   string
	FilesMade int64 `json:"batch_files_made"`
}

// mount is one live mount of the program's daemon.
type mount struct {
	t   testing.TB
	dir string
	log string
}

// newMount mounts with the given flags in the background. At the test's end the
// mount is taken down, its daemon must be gone, and its log must hold nothing
// at warning or above unless the test reads the log itself.
func newMount(t testing.TB, flags ...string) *mount {
	t.Helper()
	m := &mount{t: t, dir: t.TempDir()}
	m.log = filepath.Join(t.TempDir(), "log")
	args := append([]string{"mount", "--daemon", "--log-file", m.log}, flags...)
	solarfs(t, append(args, m.dir)...)
	t.Cleanup(m.down)
	return m
}

func (m *mount) status() status {
	m.t.Helper()
	var s status
	if err := json.Unmarshal([]byte(solarfs(m.t, "status", "--json", m.dir)), &s); err != nil {
		m.t.Fatal(err)
	}
	return s
}

func (m *mount) logged() string {
	text, err := os.ReadFile(m.log)
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// down unmounts and looks for what is left.
func (m *mount) down() {
	m.t.Helper()
	if !mounted(m.t, m.dir) {
		return
	}
	pid := m.status().PID
	if r := run(m.t, "", program, "umount", m.dir); r.code != 0 {
		m.t.Errorf("umount: exit code %d\n%s", r.code, r.stderr)
	}
	if mounted(m.t, m.dir) {
		m.t.Error("the mount is still there")
	}
	if alive(pid) {
		m.t.Errorf("daemon %d is still there", pid)
	}
	if strings.Contains(m.logged(), "DATA RACE") || strings.Contains(m.logged(), "panic") {
		m.t.Errorf("the daemon's log:\n%s", m.logged())
	}
}

// alive tells whether a process runs. One that has ended stays a zombie until
// init reaps it.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func mounted(t testing.TB, dir string) bool {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), " "+dir+" fuse.solarfs ")
}
