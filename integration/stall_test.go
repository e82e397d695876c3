package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
)

// readTimed reads an epoch's steps [2, last), computes so long after each, and
// prints the seconds that all took, those in which open did not return, and by how
// much the status says that its rank has waited meanwhile.
const readTimed = `
import json, os, sys, time
dir, epoch, last, pause = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])

def stalled():
    with open(f"{dir}/.solarfs/status.json") as f:
        return json.load(f)["stall_seconds"]

def read(step):
    began = time.monotonic()
    fd = os.open(f"{dir}/epoch-{epoch:04d}/rank-0000/batch-{step:06d}.x.npy", os.O_RDONLY)
    waited = time.monotonic() - began
    while os.read(fd, 1 << 20): pass
    os.close(fd)
    time.sleep(pause)
    return waited

read(0), read(1) # nothing can be ahead of the first epoch's first
before, began = stalled(), time.monotonic()
opens = sum(read(step) for step in range(2, last))
json.dump({"all": time.monotonic() - began, "opens": opens, "stalled": stalled() - before}, sys.stdout)
`

// timed is what readTimed prints, in seconds.
type timed struct{ All, Opens, Stalled float64 }

func (m *mount) timed(epoch, last int, pause float64) (s timed) {
	m.t.Helper()
	r := run(m.t, "", python, "-c", readTimed, m.dir, fmt.Sprint(epoch), fmt.Sprint(last), fmt.Sprint(pause))
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil {
		m.t.Fatalf("%v\n%s", err, r.stderr)
	}
	return s
}

// stallData is 120 batches of 8 samples of 64 KiB.
func stallData(t testing.TB, dir string) string {
	t.Helper()
	data := filepath.Join(dir, "x.h5")
	make := "import h5py,sys,numpy as np\nwith h5py.File(sys.argv[1],'w') as f: f['x']=np.random.default_rng(0).random((960,128,128),dtype='f4')"
	if r := run(t, "", python, "-c", make, data); r.code != 0 {
		t.Fatal(r.stderr)
	}
	return data
}

// A reader that computes nothing waits for slow storage, and the status says for
// how long: no longer than its opens took, and nearly all of that.
func TestStallIsWhatReadersWait(t *testing.T) {
	source := t.TempDir()
	stallData(t, source)
	dir, _ := slowStore(t, source)
	m := newMount(t, "--data", filepath.Join(dir, "x.h5"), "--epochs", "1", "--batch-size", "8", "--buffer", "0B", "--window", "2MiB", "--io-depth", "1")
	s := m.timed(0, 120, 0)
	t.Logf("%.3f s of %.3f s stalled, %.3f s in open", s.Stalled, s.All, s.Opens)
	if s.Stalled > s.Opens || s.Stalled < s.Opens/2 {
		t.Errorf("%.3f s stalled, open took %.3f s", s.Stalled, s.Opens)
	}
	if s.Stalled < s.All/4 {
		t.Errorf("only %.3f s of %.3f s stalled: the storage is not slow", s.Stalled, s.All)
	}
}

// BenchmarkStall reads epochs from slow storage with half of the samples in the
// buffer, computing for 50 ms a step, and says how much of that time readers
// waited.
func BenchmarkStall(b *testing.B) {
	source := b.TempDir()
	stallData(b, source)
	dir, _ := slowStore(b, source)
	m := newMount(b, "--data", filepath.Join(dir, "x.h5"), "--epochs", "100", "--batch-size", "8", "--buffer", "30MiB", "--window", "8MiB")
	m.timed(0, 120, 0)
	epoch, sum := 1, timed{}
	for b.Loop() {
		s := m.timed(epoch, 120, .05)
		sum.All, sum.Stalled = sum.All+s.All, sum.Stalled+s.Stalled
		epoch++
	}
	b.ReportMetric(100*sum.Stalled/sum.All, "%stalled")
}
