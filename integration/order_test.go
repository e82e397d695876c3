package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// spec is one job of the tests' table.
type spec struct {
	layout                                   string
	files, n, nodes, ranksPerNode, batchSize int
	epochs, seed                             int
	dropLast                                 bool
	buffer                                   float64 // share of the samples that all buffers hold
	order, read                              string
	strategy                                 string // empty: balanced
	imbalance                                float64
	options                                  []string // of every mount
}

func (s spec) String() string {
	return fmt.Sprintf("%s_n%d_f%d_%dx%dx%d_e%d_drop=%v_buffer%g_%s%g_%s%s", s.layout, s.n, s.files, s.nodes, s.ranksPerNode, s.batchSize, s.epochs, s.dropLast, s.buffer,
		s.strategy, s.imbalance, s.read, strings.Join(s.options, ""))
}

// sampleBytes of the fields that make.py makes.
const sampleBytes = 6*5*4 + 8 + 3*2

// job makes the data, the plan and a mount of each node.
func (s spec) job(t *testing.T) (plan planned, mounts []*mount, files []string) {
	t.Helper()
	files = makeData(t, s.layout, s.n, s.files)
	// Rounded up, so that a share of 1 holds every sample.
	perNode := int(s.buffer*float64(s.n)+float64(s.nodes)-1) / s.nodes
	planFile := t.TempDir() + "/plan"
	args := []string{"plan", "--json", "--verify", "-o", planFile, "--nodes", fmt.Sprint(s.nodes), "--ranks-per-node", fmt.Sprint(s.ranksPerNode),
		"--batch-size", fmt.Sprint(s.batchSize), "--epochs", fmt.Sprint(s.epochs), "--seed", fmt.Sprint(s.seed),
		"--buffer", fmt.Sprintf("%dB", perNode*sampleBytes), "--window", fmt.Sprintf("%dB", 20*s.ranksPerNode*(3*4096+s.batchSize*sampleBytes))}
	if s.order != "" {
		args = append(args, "--order", s.order)
	}
	if s.strategy != "" {
		args = append(args, "--strategy", s.strategy)
	}
	if s.imbalance > 0 {
		args = append(args, "--max-imbalance", fmt.Sprint(s.imbalance))
	}
	if s.dropLast {
		args = append(args, "--drop-last")
	}
	for _, f := range files {
		args = append(args, "--data", f)
	}
	if err := json.Unmarshal([]byte(solarfs(t, args...)), &plan); err != nil {
		t.Fatal(err)
	}
	for node := range s.nodes {
		mounts = append(mounts, newMount(t, append([]string{"--plan", planFile, "--node", fmt.Sprint(node)}, s.options...)...))
	}
	return plan, mounts, files
}

// planned is the part of a plan that tests look at.
type planned struct {
	Loads       int64 `json:"loads"`
	LoadsBound  int64 `json:"loads_bound"`
	LoadsForced int64 `json:"loads_forced"`
	LoadsPadded int64 `json:"loads_padded"`
	LoadsRiders int64 `json:"loads_riders"`
	MaxBatch    int   `json:"max_batch"`
	MinBatch    int   `json:"min_batch"`
	Spec        struct {
		MaxImbalance float64 `json:"max_imbalance"`
		Visit        []int
	}
}

// check has a Python process read all mounts and compare with torch and h5py.
func (s spec) check(t *testing.T, plan planned, mounts []*mount, files []string) {
	t.Helper()
	order := s.order
	if order == "" {
		order = "torch"
	}
	visit := plan.Spec.Visit
	for epoch := len(visit); epoch < s.epochs; epoch++ {
		visit = append(visit, epoch)
	}
	var dirs []string
	for _, m := range mounts {
		dirs = append(dirs, m.dir)
	}
	job, err := json.Marshal(map[string]any{
		"mounts": dirs, "data": files, "fields": map[string]string{"x": "x", "label": "group/label", "image": "image"},
		"nodes": s.nodes, "ranks_per_node": s.ranksPerNode, "batch_size": s.batchSize, "epochs": s.epochs, "seed": s.seed,
		"drop_last": s.dropLast, "order": order, "read": s.read, "max_imbalance": plan.Spec.MaxImbalance, "visit": visit,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, string(job), python, "testdata/check.py"); r.code != 0 || !strings.HasSuffix(r.stdout, "ok\n") {
		for _, m := range mounts {
			t.Logf("log of %s:\n%s", m.dir, m.logged())
		}
		t.Fatalf("check.py: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// specs covers sizes from one sample up, tails, padding, buffers of nothing,
// some and all, and each layout.
var specs = []spec{
	{layout: "contiguous", files: 1, n: 1, nodes: 1, ranksPerNode: 1, batchSize: 1, epochs: 1, buffer: 0},
	{layout: "contiguous", files: 1, n: 1, nodes: 4, ranksPerNode: 3, batchSize: 64, epochs: 3, buffer: 1},
	{layout: "gzip", files: 1, n: 7, nodes: 2, ranksPerNode: 3, batchSize: 2, epochs: 5, buffer: .5},
	{layout: "gzip7", files: 2, n: 100, nodes: 1, ranksPerNode: 2, batchSize: 7, epochs: 5, buffer: .3, seed: 42},
	{layout: "gzip7", files: 2, n: 101, nodes: 3, ranksPerNode: 1, batchSize: 5, epochs: 4, buffer: .5, dropLast: true},
	{layout: "chunk4", files: 3, n: 103, nodes: 2, ranksPerNode: 2, batchSize: 8, epochs: 3, buffer: .4},
	{layout: "chunk4", files: 1, n: 500, nodes: 1, ranksPerNode: 3, batchSize: 16, epochs: 3, buffer: 1, dropLast: true},
	{layout: "contiguous", files: 5, n: 1001, nodes: 4, ranksPerNode: 2, batchSize: 16, epochs: 5, buffer: .6, seed: 7},
	{layout: "contiguous", files: 1, n: 1000, nodes: 1, ranksPerNode: 1, batchSize: 1, epochs: 2, buffer: .9},
	{layout: "contiguous", files: 1, n: 2000, nodes: 2, ranksPerNode: 2, batchSize: 32, epochs: 3, buffer: .5, order: "sequential"},
	{layout: "gzip", files: 4, n: 10007, nodes: 2, ranksPerNode: 2, batchSize: 64, epochs: 3, buffer: .5},
	{layout: "contiguous", files: 1, n: 10007, nodes: 1, ranksPerNode: 2, batchSize: 64, epochs: 5, buffer: 0},
	{layout: "contiguous", files: 2, n: 10007, nodes: 4, ranksPerNode: 3, batchSize: 13, epochs: 2, buffer: 1, dropLast: true, seed: 2147483659},
	{layout: "contiguous", files: 1, n: 10007, nodes: 1, ranksPerNode: 1, batchSize: 64, epochs: 3, buffer: 1},
}

// Read in order by all ranks at once, every batch is torch's and h5py's, and
// storage is asked for exactly what the plan says, which is the least possible
// wherever equal batches allow it.
func TestOrderAndBytes(t *testing.T) {
	for _, s := range specs {
		s.read = "forward"
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			plan, mounts, files := s.job(t)
			s.check(t, plan, mounts, files)
			followsPlan(t, plan, mounts)
			if beyond := plan.Loads - plan.LoadsPadded - plan.LoadsBound; beyond != plan.LoadsForced || s.nodes == 1 && plan.LoadsRiders == 0 && beyond != 0 {
				t.Errorf("plan: %+v", plan)
			}
			if plan.MaxBatch != plan.MinBatch {
				t.Errorf("batches of %d to %d samples", plan.MinBatch, plan.MaxBatch)
			}
		})
	}
}

// followsPlan compares what storage was asked for with what the plan says.
func followsPlan(t *testing.T, plan planned, mounts []*mount) {
	t.Helper()
	var all status
	for _, m := range mounts {
		st := m.status()
		all.Loads, all.Riders, all.Missed, all.Strays = all.Loads+st.Loads, all.Riders+st.Riders, all.Missed+st.Missed, all.Strays+st.Strays
		if len(st.Errors) > 0 {
			t.Errorf("errors: %v", st.Errors)
		}
	}
	if all.Loads != plan.Loads || all.Riders != plan.LoadsRiders || all.Missed != 0 || all.Strays != 0 {
		t.Errorf("%d loads, %d of them riders (%d missed), and %d batches out of order; the plan says %d, %d and none",
			all.Loads, all.Riders, all.Missed, all.Strays, plan.Loads, plan.LoadsRiders)
	}
}

// Read in any other way, the bytes are the same and nothing hangs or grows.
func TestAnyOrderOfReading(t *testing.T) {
	even := spec{layout: "gzip7", files: 2, n: 1003, nodes: 2, ranksPerNode: 2, batchSize: 12, epochs: 3, buffer: .5}
	uneven := even
	uneven.imbalance, uneven.buffer = .3, 1
	through := []string{"-o", "direct_io"}
	for i, read := range []string{"backward", "random", "twice", "rank0", "workers", "mmap"} {
		for _, c := range []struct {
			spec
			options []string
		}{{even, nil}, {even, through}, {uneven, [][]string{nil, through}[i%2]}} {
			s := c.spec
			s.read, s.options = read, slices.Clone(c.options)
			if read == "rank0" {
				s.options = append(s.options, "--all-ranks")
			}
			t.Run(s.String(), func(t *testing.T) {
				t.Parallel()
				plan, mounts, files := s.job(t)
				s.check(t, plan, mounts, files)
				for _, m := range mounts {
					if st := m.status(); st.Memory.Batches > st.Memory.Window || st.Memory.Buffer > st.Memory.Limit {
						t.Errorf("memory: %+v", st.Memory)
					}
				}
			})
		}
	}
}
