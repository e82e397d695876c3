package integration

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// readPlain reads batches as the leanest loader would: open, one read into a
// buffer that is used again and begins at a page, close.
const readPlain = `
import mmap, os, sys
directory, first, last, size = sys.argv[1], *map(int, sys.argv[2:])
buffer = mmap.mmap(-1, size)
for step in range(first, last):
    fd = os.open(f"{directory}/batch-{step:06d}.x.npy", os.O_RDONLY)
    assert os.preadv(fd, [buffer], 0) == size
    os.close(fd)
`

// readNumpy reads them as README's loader does.
const readNumpy = `
import sys, numpy
directory, first, last, size = sys.argv[1], *map(int, sys.argv[2:])
for step in range(first, last):
    assert numpy.load(f"{directory}/batch-{step:06d}.x.npy").nbytes + 128 == size
`

// requests counts, by kind, what the kernel asks of the daemon of a mount with
// -o debug while do runs.
func (m *mount) requests(do func()) map[string]int {
	m.t.Helper()
	counts := m.answered()
	do()
	for kind, n := range m.answered() {
		if counts[kind] = n - counts[kind]; counts[kind] == 0 {
			delete(counts, kind)
		}
	}
	delete(counts, "FORGET") // comes when the kernel wants memory, and needs no answer
	return counts
}

var received = regexp.MustCompile(`rx \d+: ([A-Z_]+) `)

// answered counts all requests so far, once every file that was opened is released,
// for which the kernel lets nobody wait.
func (m *mount) answered() map[string]int {
	m.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		counts := map[string]int{}
		for _, request := range received.FindAllStringSubmatch(m.logged(), -1) {
			counts[request[1]]++
		}
		if counts["OPEN"] == counts["RELEASE"] && counts["OPENDIR"] == counts["RELEASEDIR"] {
			return counts
		}
		if time.Now().After(end) {
			m.t.Fatalf("not all that was opened is released: %v", counts)
		}
	}
}

// The job whose requests are counted: batches of two whole MiB and a header.
const (
	countedBatches = 20
	countedBytes   = 2<<20 + 128
)

// A batch costs the daemon one LOOKUP, one OPEN and one RELEASE, and, where the
// kernel does not read by itself, a READ for each MiB. What has been told once is
// not asked again. Nothing else is asked: no FLUSH, ACCESS, GETATTR or GETXATTR.
func TestKernelRequests(t *testing.T) {
	data := filepath.Join(t.TempDir(), "x.h5")
	make := fmt.Sprintf("import h5py,numpy as np\nwith h5py.File(%q,'w') as f: f['x']=np.ones((800,256,256),'u2')", data)
	if r := run(t, "", python, "-c", make); r.code != 0 {
		t.Fatal(r.stderr)
	}
	for _, c := range []struct {
		serving, options string
		reads            int // READs of one batch
	}{{"passthrough", "debug", 0}, {"direct", "debug,direct_io", 3}} {
		t.Run(c.serving, func(t *testing.T) {
			m := newMount(t, "--data", data, "--epochs", "1", "--batch-size", "16", "--buffer", "0B", "--window", "20MiB", "-o", c.options)
			if got := m.status().Serving; got != c.serving {
				t.Skipf("batches are served by %s here", got)
			}
			m.countRead(readPlain, 0, 1) // the way to the directory, asked once
			checkRead(t, m, c.reads)
			checkReadAgain(t, m)
			checkReadByNumpy(t, m, c.reads)
			checkListing(t, m)
			if strings.Contains(m.logged(), "trySplice") {
				t.Error("replies from memory take a pipe first")
			}
		})
	}
}

// countedDir is the directory whose batches are read.
func (m *mount) countedDir() string { return m.dir + "/epoch-0000/rank-0000" }

// countRead counts the requests while a script reads the batches [first, last).
func (m *mount) countRead(script string, first, last int) map[string]int {
	m.t.Helper()
	return m.requests(func() {
		m.t.Helper()
		if r := run(m.t, "", python, "-c", script, m.countedDir(), fmt.Sprint(first), fmt.Sprint(last), fmt.Sprint(countedBytes)); r.code != 0 {
			m.t.Fatal(r.stderr)
		}
	})
}

// reading is what n batches cost, with so many READs each.
func reading(n, reads int) map[string]int {
	want := map[string]int{"LOOKUP": n, "OPEN": n, "RELEASE": n}
	if reads > 0 {
		want["READ"] = n * reads
	}
	return want
}

// checkRead reads batches that nobody has asked for yet.
func checkRead(t *testing.T, m *mount, reads int) {
	t.Helper()
	want := reading(countedBatches, reads)
	if got := m.countRead(readPlain, 1, 1+countedBatches); !maps.Equal(got, want) {
		t.Errorf("%d batches cost %v, want %v", countedBatches, got, want)
	}
	if full := strings.Count(m.logged(), " +1048576) "); full < 2*countedBatches*min(reads, 1) {
		t.Errorf("only %d READs of %d batches ask for 1 MiB", full, countedBatches)
	}
}

// checkReadAgain reads two of them once more: their names are known, and the
// daemon answers them, since their memory has gone to other batches.
func checkReadAgain(t *testing.T, m *mount) {
	t.Helper()
	want := reading(2, 3)
	delete(want, "LOOKUP")
	if got := m.countRead(readPlain, 1, 3); !maps.Equal(got, want) {
		t.Errorf("two batches read again cost %v, want %v", got, want)
	}
}

// checkReadByNumpy reads the next batches. numpy asks for pages of the header
// three times before it reads the rest.
func checkReadByNumpy(t *testing.T, m *mount, reads int) {
	t.Helper()
	got := m.countRead(readNumpy, 1+countedBatches, 1+2*countedBatches)
	t.Logf("%d batches read by numpy cost %v", countedBatches, got)
	if got["READ"] > (reads+3)*countedBatches || reads == 0 && got["READ"] > 0 {
		t.Errorf("%d READs by numpy of %d batches", got["READ"], countedBatches)
	}
	delete(got, "READ")
	// Python before 3.14 asks of every file that it opens whether it is a terminal, and the kernel keeps no answer.
	delete(got, "IOCTL")
	if want := reading(countedBatches, 0); !maps.Equal(got, want) {
		t.Errorf("%d batches read by numpy cost %v, want %v and READs", countedBatches, got, want)
	}
}

// checkListing lists the directory of 52 entries, 41 of which are known already.
func checkListing(t *testing.T, m *mount) {
	t.Helper()
	first := m.countListing()
	if reads := first["READDIR"]; reads < 1 || reads > 3 || len(first) != 3 {
		t.Errorf("ls costs %v, want OPENDIR, few READDIRs, and RELEASEDIR", first)
	}
	again := map[string]int{"OPENDIR": 1, "RELEASEDIR": 1}
	if got := m.countListing(); !maps.Equal(got, again) {
		t.Errorf("ls again costs %v, want %v", got, again)
	}
	long := m.countListing("-l")
	if long["LOOKUP"] != 11 || long["GETATTR"] != 0 || long["GETXATTR"] > 1 || long["READDIRPLUS"] != 0 {
		t.Errorf("ls -l costs %v, want 11 LOOKUPs and perhaps a GETXATTR", long)
	}
	if got := m.countListing("-l"); !maps.Equal(got, again) {
		t.Errorf("ls -l again costs %v, want %v", got, again)
	}
}

// countListing counts the requests of ls with the given flags.
func (m *mount) countListing(flags ...string) map[string]int {
	m.t.Helper()
	return m.requests(func() {
		m.t.Helper()
		if r := run(m.t, "", "ls", append(flags, m.countedDir())...); r.code != 0 {
			m.t.Fatal(r.stderr)
		}
	})
}
