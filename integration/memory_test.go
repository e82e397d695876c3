package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// peakResident is the most resident memory that a process ever had, in bytes.
func peakResident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	kib := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	n, err := strconv.ParseInt(string(kib[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}

// The least memory that a refusal names works, and no way of reading takes the
// daemon more than 64 MiB over its limit.
func TestMemoryLimit(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector's shadow memory counts as resident")
	}
	data := filepath.Join(t.TempDir(), "big.h5")
	make := fmt.Sprintf(`import h5py,numpy as np
r=np.random.default_rng(1)
with h5py.File(%q,'w') as f:
    d=f.create_dataset('x',(403,256,256),'f4',chunks=(4,256,256),compression='gzip',compression_opts=1,shuffle=True)
    for i in range(0,403,31): d[i:i+31]=np.round(r.random((31,256,256),dtype='f4')*64)`, data)
	if r := run(t, "", python, "-c", make); r.code != 0 {
		t.Fatal(r.stderr)
	}
	flags := []string{"--data", data, "--epochs", "2", "--batch-size", "6", "--ranks-per-node", "2"}
	refusal := run(t, "", program, append([]string{"plan", "--memory", "1MiB"}, flags...)...)
	least := regexp.MustCompile(`at least --memory (\d+)B`).FindStringSubmatch(refusal.stderr)
	if refusal.code != 2 || least == nil {
		t.Fatalf("exit code %d: %s", refusal.code, refusal.stderr)
	}
	for _, memory := range []string{least[1] + "B", "60MiB", "100MiB"} {
		for _, read := range []string{"forward", "random", "workers"} {
			t.Run(memory+"/"+read, func(t *testing.T) {
				m := newMount(t, append([]string{"--memory", memory}, flags...)...)
				job, err := json.Marshal(map[string]any{
					"mounts": []string{m.dir}, "data": []string{data}, "fields": map[string]string{"x": "x"}, "nodes": 1, "ranks_per_node": 2,
					"batch_size": 6, "epochs": 2, "seed": 0, "drop_last": false, "order": "torch", "read": read, "max_imbalance": 0, "visit": []int{0, 1},
				})
				if err != nil {
					t.Fatal(err)
				}
				if r := run(t, string(job), python, "testdata/check.py"); r.code != 0 || !strings.HasSuffix(r.stdout, "ok\n") {
					t.Fatalf("check.py: %s%s\n%s", r.stdout, r.stderr, m.logged())
				}
				st := m.status()
				if peak := peakResident(t, st.PID); peak > st.Memory.Limit+64<<20 {
					t.Errorf("%d MiB resident at a limit of %d MiB", peak>>20, st.Memory.Limit>>20)
				} else {
					t.Logf("%d MiB resident at a limit of %d MiB", peak>>20, st.Memory.Limit>>20)
				}
			})
		}
	}
}
