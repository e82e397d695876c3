package integration

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"solarfs/integration/slowfs"
	"solarfs/planner"
)

// The job on slow storage: two nodes of one rank, 64 KiB samples, buffers for half the set together.
const (
	slowSamples     = 3000
	slowSampleBytes = 65536
	slowEpochs      = 6
	slowWindow      = 24 << 20 // bytes, on each node
	// slowGap is where reading over a gap stops paying on the store: what it sends in the 125 microseconds of a request. On a busy machine a
	// mount that finds it by itself finds what the machine gives, not the store.
	slowGap = "50kB"
)

// slowStore shows a directory as a network file system of 2 ms and 400 MB/s that serves 16 requests at once.
func slowStore(t testing.TB, source string) (dir string, m *slowfs.Mount) {
	t.Helper()
	// A thread that sleeps for a request keeps its processor, in Go's sense, for some time: with as many as that, none waits for another's.
	before := runtime.GOMAXPROCS(32)
	dir = t.TempDir()
	m, err := slowfs.New(source, dir, slowfs.Speed{Latency: 2 * time.Millisecond, Bandwidth: 400e6, AtOnce: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmount(); err != nil {
			t.Error(err)
		}
		runtime.GOMAXPROCS(before)
	})
	return dir, m
}

// slowJob makes the data, shows them as slow storage, and mounts both nodes.
func slowJob(t *testing.T) (data string, store *slowfs.Mount, mounts []*mount) {
	t.Helper()
	source := t.TempDir()
	data = filepath.Join(source, "x.h5")
	make := fmt.Sprintf("import h5py,numpy as np\nwith h5py.File(%q,'w') as f: f['x']=np.random.default_rng(0).random((%d,128,128),dtype='f4')", data, slowSamples)
	if r := run(t, "", python, "-c", make); r.code != 0 {
		t.Fatal(r.stderr)
	}
	dir, store := slowStore(t, source)
	plan := filepath.Join(t.TempDir(), "plan")
	solarfs(t, "plan", "-o", plan, "--data", filepath.Join(dir, "x.h5"), "--nodes", "2", "--batch-size", "32", "--epochs", fmt.Sprint(slowEpochs), "--latency", "2ms", "--bandwidth", "400MB",
		"--buffer", fmt.Sprintf("%dB", slowSamples/4*slowSampleBytes), "--window", fmt.Sprintf("%dB", slowWindow))
	store.Reset()
	for node := range 2 {
		mounts = append(mounts, newMount(t, "--plan", plan, "--node", fmt.Sprint(node), "--read-gap", slowGap))
	}
	return data, store, mounts
}

// Storage is asked for about as little as anyone could ask who knows the plan and has the window's memory for what is read ahead: requests and
// bytes are within a tenth of that.
func TestFewRequestsOfSlowStorage(t *testing.T) {
	data, store, mounts := slowJob(t)
	readSlow(t, data, mounts)
	var least slowfs.Counts
	spec := plannedSpec(t, mounts[0])
	for node, m := range mounts {
		s := m.status()
		if s.Strays != 0 || len(s.Errors) > 0 {
			t.Errorf("node %d: %d batches out of order, errors %q", node, s.Strays, s.Errors)
		}
		c := fewest(loadsOf(t, spec, node), int(s.Memory.Ahead/slowSampleBytes))
		least.Requests, least.Bytes = least.Requests+c.Requests, least.Bytes+c.Bytes
	}
	got := store.Counts()
	t.Logf("%d requests for %d bytes; %d for %d would do", got.Requests, got.Bytes, least.Requests, least.Bytes)
	for _, c := range []struct {
		what       string
		got, least int64
	}{{"requests", got.Requests, least.Requests}, {"bytes", got.Bytes, least.Bytes}} {
		if math.Abs(float64(c.got)/float64(c.least)-1) > .1 {
			t.Errorf("%d %s, the optimum is %d", c.got, c.what, c.least)
		}
	}
}

// readSlow reads all batches of both nodes, a process each, and compares them with h5py.
func readSlow(t *testing.T, data string, mounts []*mount) {
	t.Helper()
	var visit []int
	for epoch := range slowEpochs {
		visit = append(visit, epoch)
	}
	job, err := json.Marshal(map[string]any{
		"mounts": []string{mounts[0].dir, mounts[1].dir}, "data": []string{data}, "fields": map[string]string{"x": "x"}, "nodes": 2, "ranks_per_node": 1,
		"batch_size": 32, "epochs": slowEpochs, "seed": 0, "drop_last": false, "order": "torch", "read": "forward", "max_imbalance": 0, "visit": visit,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, string(job), python, "testdata/check.py"); r.code != 0 || !strings.HasSuffix(r.stdout, "ok\n") {
		t.Fatalf("check.py: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// plannedSpec is what a mount's plan was made from.
func plannedSpec(t *testing.T, m *mount) planner.Spec {
	t.Helper()
	var plan struct{ Spec planner.Spec }
	text, err := os.ReadFile(filepath.Join(m.dir, ".solarfs", "plan.json"))
	if err == nil {
		err = json.Unmarshal(text, &plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan.Spec
}

// loadsOf are a node's loads in the plan's order.
func loadsOf(t *testing.T, spec planner.Spec, node int) (loads []uint32) {
	t.Helper()
	schedule, err := planner.NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	for epoch, more := schedule.Next(); more; epoch, more = schedule.Next() {
		for step := range spec.Steps() {
			samples, fates := epoch.Batch(step, node) // one rank on each node
			for i, sample := range samples {
				if fates[i]&planner.Load != 0 {
					loads = append(loads, sample)
				}
			}
		}
	}
	return loads
}

// fewest is the least that storage must be asked for to get loads, where one read serves all loads of a sample, and one request all neighbours in
// the file, that are at most window loads apart: what one needs who always knows the next window loads and has memory for them.
func fewest(loads []uint32, window int) (c slowfs.Counts) {
	reads := map[uint32][][]int{} // of each sample, with the numbers of the loads that it serves
	for n, sample := range loads {
		mine := reads[sample]
		if last := len(mine) - 1; last >= 0 && n-mine[last][0] <= window {
			mine[last] = append(mine[last], n)
		} else {
			reads[sample] = append(mine, []int{n})
		}
	}
	for sample, mine := range reads {
		for _, read := range mine {
			c.Bytes += slowSampleBytes
			if !slices.ContainsFunc(reads[sample+1], func(other []int) bool { return near(read, other, window) }) {
				c.Requests++
			}
		}
	}
	return c
}

// near tells whether two reads can be one request.
func near(a, b []int, window int) bool {
	return max(a[len(a)-1], b[len(b)-1])-min(a[0], b[0]) <= window
}
