package fsnode

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"solarfs/cache"
	"solarfs/h5backend"
	"solarfs/planner"
)

const python = "/usr/bin/python3"

// The large tree: 100 epochs x 512 ranks x 100,000 batches of three fields.
const (
	largeEpochs = 100
	largeRanks  = 512
	largeSteps  = 100_000
)

// mountLarge mounts the large tree until the test ends, and logs to log. The
// cache behind it is a small job's: equal batches need no plan for their names
// and sizes, and none is opened.
func mountLarge(t testing.TB, log io.Writer, debug bool) (f *FS, dir string) {
	t.Helper()
	// Each reader of requests holds a buffer of a MiB, and a processor more is a reader more.
	processors := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(processors) })
	spec := planner.Spec{Samples: largeRanks * largeSteps, Nodes: 64, RanksPerNode: 8, BatchSize: 1, Epochs: largeEpochs, Order: planner.OrderTorch}
	f, err := New(Config{
		Spec: spec, Fields: []string{"x", "y", "z"}, AllRanks: true, Cache: smallCache(t), Made: time.Now(), Log: slog.New(slog.NewTextHandler(log, nil)),
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	mounted, err := f.Mount(dir, MountOptions{Source: "solarfs", Debug: debug})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
			syscall.Unmount(dir, syscall.MNT_DETACH)
		}
		mounted.Wait()
	})
	return f, dir
}

// smallCache is the data plane of a job of a few zeros in three fields.
func smallCache(t testing.TB) *cache.Cache {
	t.Helper()
	spec := planner.Spec{Samples: 8, Nodes: 1, RanksPerNode: 1, BatchSize: 1, Epochs: 1, Order: planner.OrderTorch}
	var fields []h5backend.Field
	for _, name := range []string{"x", "y", "z"} {
		fields = append(fields, h5backend.Field{Path: name, Name: name, DType: "<f4", Bytes: 4})
	}
	data, err := cache.New(cache.Config{
		Spec: spec, Fields: fields, Ahead: zeros{}, Now: zeros{}, Log: slog.New(slog.DiscardHandler),
		Memory: cache.Split{Window: 4 * cache.StepBytes(spec, fields), Stray: 1 << 16},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	return data
}

// client runs a Python script in a process of its own: one that serves a mount
// must not use it.
func client(t testing.TB, script string, args ...any) string {
	t.Helper()
	line := []string{"-c", script}
	for _, a := range args {
		line = append(line, fmt.Sprint(a))
	}
	cmd := exec.Command(python, line...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return string(out)
}

// heapBytes is what lives in the heap, without what a collection would free.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // pools keep what they hold for one more
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// peakHeap is the most that lived in the heap while do ran, in bytes, seen every
// few milliseconds.
func peakHeap(do func()) (peak int64) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	for {
		select {
		case <-done:
			return peak
		case <-time.After(20 * time.Millisecond):
			peak = max(peak, heapBytes())
		}
	}
}

// listDirs lists directories, and checks that their entries come in the order of
// their names; it prints how many the last one has, and its last.
const listDirs = `
import os, sys
for directory in sys.argv[1:]:
    n, last = 0, ""
    with os.scandir(directory) as entries:
        for entry in entries:
            assert entry.name > last, (last, entry.name)
            last, n = entry.name, n + 1
print(n, last)
`

// A directory of 300,002 entries is listed in the order of their names, and costs
// the daemon no memory that grows with it.
func TestLargeDirectory(t *testing.T) {
	_, dir := mountLarge(t, t.Output(), false)
	client(t, listDirs, dir, dir+"/epoch-0099") // what is made once
	before := heapBytes()
	var listed string
	peak := peakHeap(func() { listed = client(t, listDirs, dir+"/epoch-0099/rank-0511") })
	if want := fmt.Sprintln(3*largeSteps+2, weightsName); listed != want {
		t.Errorf("listed %q, want %q", listed, want)
	}
	grown := peak - before
	t.Logf("at most %d KiB more in the heap meanwhile", grown>>10)
	if grown > 4<<20 { // a list of the names alone would be twice as large
		t.Errorf("the heap has grown by %d bytes meanwhile", grown)
	}
}

// The first entries are there before the others are made.
func TestListingStreams(t *testing.T) {
	var log bytes.Buffer
	t.Run("first", func(t *testing.T) {
		_, dir := mountLarge(t, &log, true)
		if first := client(t, "import os,sys\nprint(next(os.scandir(sys.argv[1])).name)", dir+"/epoch-0050/rank-0100"); first != "batch-000000.x.npy\n" {
			t.Errorf("the first entry is %q", first)
		}
	})
	// The mount is gone, so nobody writes into the log.
	if reads := strings.Count(log.String(), ": READDIR "); reads != 1 {
		t.Errorf("%d requests for the first of 300,002 entries", reads)
	}
}

// statMany looks up distinct batches all over the tree, from the first-th to the
// last-th of them, and their directories, in four processes at once: one alone
// would mostly measure how long a sleeping processor takes to wake.
const statMany = `
import multiprocessing, os, sys
base, epochs, ranks, steps, first, last = sys.argv[1], *map(int, sys.argv[2:])
directories = [f"{base}/epoch-{e:04d}/rank-{r:04d}" for e in range(0, epochs, 7) for r in range(0, ranks, 50)]
def look_up(part):
    for i in range(first + part, last, 4):
        step = i // len(directories) * 7919 % steps
        assert os.stat(f"{directories[i % len(directories)]}/batch-{step:06d}.{'xyz'[i % 3]}.npy").st_size == 132
with multiprocessing.Pool(4) as pool:
    pool.map(look_up, range(4))
`

// lookUp looks n names up and says by how many bytes the daemon's heap has grown.
func lookUp(t testing.TB, f *FS, dir string, first, n int) (grown int64) {
	t.Helper()
	before := heapBytes()
	client(t, statMany, dir, largeEpochs, largeRanks, largeSteps, first, first+n)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.mu.files) > 0 {
		t.Errorf("%d files are open", len(f.mu.files))
	}
	return heapBytes() - before
}

// Names that were looked up leave nothing in the daemon. BenchmarkLookups does it
// with any number.
func TestManyNames(t *testing.T) {
	const names, most = 100_000, 3 << 20 // bytes: what readers of requests hold, but no table with an entry for each name
	f, dir := mountLarge(t, t.Output(), false)
	lookUp(t, f, dir, 0, 5000) // what is made once
	grown := lookUp(t, f, dir, 5000, names)
	t.Logf("%d bytes left by %d names", grown, names)
	if grown > most {
		t.Errorf("%d names have left %d bytes in the heap", names, grown)
	}
}

// BenchmarkLookups looks up distinct names of the large tree, one process all of
// them: -benchtime 1000000x for a million.
func BenchmarkLookups(b *testing.B) {
	f, dir := mountLarge(b, io.Discard, false)
	lookUp(b, f, dir, 0, 5000)
	b.ResetTimer()
	grown := lookUp(b, f, dir, 5000, b.N)
	b.ReportMetric(float64(grown), "heap-B")
}
