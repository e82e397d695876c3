package slowfs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// program is cmd/slowfs and reader a client that reads a load, built once, without
// the race detector, which would make them too slow to keep time.
var program, reader string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, "FAIL: the mount tests need /dev/fuse:", err)
			return 1
		}
		fuse.Close()
		dir, err := os.MkdirTemp("", "slowfs-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, "FAIL:", err)
			return 1
		}
		defer os.RemoveAll(dir)
		program, reader = filepath.Join(dir, "slowfs"), filepath.Join(dir, "reader")
		if out, err := exec.Command("go", "build", "-o", dir, "./cmd/slowfs", "./testdata/reader").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "FAIL: build slowfs and its client: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// preferred is a command that other programs on the machine hold up little.
func preferred(name string, args ...string) *exec.Cmd {
	if os.Geteuid() != 0 {
		return exec.Command(name, args...)
	}
	return exec.Command("nice", append([]string{"-n", "-20", name}, args...)...)
}

// load is what a client reads: so many blocks of a size in bytes, spread over a
// file, at a depth: the number of reads at a time.
type load struct{ depth, size, blocks int }

// read reads a load in a process of its own.
func (l load) read(t *testing.T, path string) time.Duration {
	t.Helper()
	cmd := preferred(reader, path, fmt.Sprint(l.depth), fmt.Sprint(l.size), fmt.Sprint(l.blocks))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reader: %v", err)
	}
	var seconds float64
	if _, err := fmt.Sscan(string(out), &seconds); err != nil {
		t.Fatalf("reader printed %q: %v", out, err)
	}
	return time.Duration(seconds * float64(time.Second))
}
