package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// readAll reads every batch file of a field, in order, by a process of its own,
// and tells for each file "ok", or the errno's name.
const readAll = `
import sys, os, errno, json, numpy as np
out = {}
base, field = sys.argv[1:3]
for epoch in sorted(e for e in os.listdir(base) if e.startswith("epoch")):
    d = f"{base}/{epoch}/rank-0000"
    for step, row in enumerate(np.load(d + "/samples.npy")):
        try:
            np.load(f"{d}/batch-{step:06d}.{field}.npy")
            result = "ok"
        except OSError as e:
            result = errno.errorcode[e.errno]
        out[f"{epoch}/{step}"] = [result] + row.tolist()
json.dump(out, sys.stdout)
`

// batchResult is how the reading of one batch ended, and its samples.
type batchResult struct {
	result  string
	samples []int
}

func readField(t *testing.T, m *mount, field string) map[string]batchResult {
	t.Helper()
	r := run(t, "", python, "-c", readAll, m.dir, field)
	var raw map[string][]any
	if err := json.Unmarshal([]byte(r.stdout), &raw); err != nil {
		t.Fatalf("%v\n%s", err, r.stderr)
	}
	out := map[string]batchResult{}
	for name, row := range raw {
		b := batchResult{result: row[0].(string)}
		for _, s := range row[1:] {
			b.samples = append(b.samples, int(s.(float64)))
		}
		out[name] = b
	}
	return out
}

// A corrupt chunk costs EIO in exactly the batches that need it; the log names
// file, dataset and chunk; all others are read.
func TestCorruptChunk(t *testing.T) {
	for _, options := range [][]string{nil, {"-o", "direct_io"}} {
		data := makeData(t, "gzip7", 100, 1)[0]
		spoiled := run(t, "", python, "testdata/spoil.py", data, "x", "40")
		var bad []int
		for _, word := range strings.Fields(spoiled.stdout) {
			var s int
			fmt.Sscan(word, &s)
			bad = append(bad, s)
		}
		if len(bad) != 7 {
			t.Fatalf("spoil.py: %s%s", spoiled.stdout, spoiled.stderr)
		}
		m := newMount(t, append([]string{"--data", data, "--epochs", "3", "--batch-size", "4", "--buffer", "5KB", "--window", "72KiB"}, options...)...)
		for name, b := range readField(t, m, "x") {
			needsIt := slices.ContainsFunc(b.samples, func(s int) bool { return slices.Contains(bad, s) })
			if want := map[bool]string{true: "EIO", false: "ok"}[needsIt]; b.result != want {
				t.Errorf("batch %s of samples %v: %s, want %s", name, b.samples, b.result, want)
			}
		}
		for name, b := range readField(t, m, "label") {
			if b.result != "ok" {
				t.Errorf("label %s: %s", name, b.result)
			}
		}
		if log := m.logged(); !strings.Contains(log, data) || !regexp.MustCompile(`chunk`).MatchString(log) || !strings.Contains(log, "x") {
			t.Errorf("the log does not name file and chunk:\n%s", log)
		}
		if st := m.status(); len(st.Errors) == 0 {
			t.Error("status shows no error")
		}
	}
}

// When the source changes under the mount, what was not read yet answers
// ESTALE; no file mixes old and new.
func TestChangedSource(t *testing.T) {
	data := makeData(t, "contiguous", 2000, 1)[0]
	m := newMount(t, "--data", data, "--epochs", "2", "--batch-size", "4", "--buffer", "0B", "--window", "120KiB")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(data, later, later); err != nil {
		t.Fatal(err)
	}
	stale := 0
	for name, b := range readField(t, m, "x") {
		switch b.result {
		case "ESTALE":
			stale++
		case "ok":
		default:
			t.Errorf("batch %s: %s", name, b.result)
		}
	}
	if stale < 900 { // all but what was read ahead before the change
		t.Errorf("%d of 1000 batches answer ESTALE", stale)
	}
}

// The files of read batches are used again: as many are made as the window
// holds, however many batches are read.
func TestBatchFilesAreUsedAgain(t *testing.T) {
	for _, c := range []struct {
		serving string
		options []string
	}{{"passthrough", nil}, {"direct", []string{"-o", "direct_io"}}} {
		t.Run(c.serving, func(t *testing.T) {
			data := makeData(t, "contiguous", 2000, 1)[0]
			m := newMount(t, append([]string{"--data", data, "--epochs", "2", "--batch-size", "4", "--buffer", "20KB", "--window", "240KiB"}, c.options...)...)
			for name, b := range readField(t, m, "x") {
				if b.result != "ok" {
					t.Errorf("batch %s: %s", name, b.result)
				}
			}
			st := m.status()
			if st.Serving != c.serving {
				t.Errorf("served by %s", st.Serving)
			}
			if st.FilesMade > 60 {
				t.Errorf("%d files were made for 1000 batches in a window of %d bytes", st.FilesMade, st.Memory.Window)
			}
		})
	}
}
