package main

import (
	"bytes"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// someResult is two groups, the second without a DataLoader.
func someResult() Result {
	small := datasets[0]
	row := func(group, system string, loader int, m measurement) Row {
		return Row{Group: group, System: system, loader: loader}.measured(small, m)
	}
	requests := counts{Requests: 300, Bytes: 3e6}
	r := Result{Rows: []Row{
		row("a", "DataLoader w0", 1, measurement{Seconds: 2, Samples: 640, Batches: 10}),
		row("a", "DataLoader w2", 3, measurement{Seconds: 1, Samples: 640, Batches: 10, cpu: .5, counts: requests, counted: true}),
		row("a", "solarfs", 0, measurement{Seconds: 4, Samples: -1, Batches: 376, Epochs: 2}),
		row("b", "solarfs", 0, measurement{Seconds: 1, Samples: -1, Batches: 188, Epochs: 1}),
	}, Skipped: []string{"c: why"}}
	r.Rows[2].Share = .5
	relate(r.Rows)
	return r
}

func TestRows(t *testing.T) {
	r := someResult()
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"a part's seconds per epoch", r.Rows[0].SecondsPerEpoch, 12000. / 320},
		{"whole epochs' seconds", r.Rows[2].SecondsPerEpoch, 2},
		{"samples a second", r.Rows[2].SamplesPerSecond, 6000},
		{"over the best", r.Rows[2].OverBest, 6000. / 640},
		{"over w0", r.Rows[2].OverPlain, 6000. / 320},
		{"processor time", r.Rows[1].CPUPerGB, .5 / (640 * 65536 / 1e9)},
		{"requests of an epoch", float64(*r.Rows[1].Requests), 300 * 12000 / 640},
		{"nothing to compare with", r.Rows[3].OverBest, 0},
	} {
		if math.Abs(c.got-c.want) > 1e-9*c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// A result that was written says the same when it is read, in every form.
func TestResultIsReadAgain(t *testing.T) {
	r, path := someResult(), filepath.Join(t.TempDir(), "r.json")
	if err := writeJSON(path, r); err != nil {
		t.Fatal(err)
	}
	again, err := readResult(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Rows {
		r.Rows[i].loader = 0
	}
	if !reflect.DeepEqual(r, again) {
		t.Errorf("%+v\nwas written, read:\n%+v", r, again)
	}
	var table, markdown bytes.Buffer
	printTable(&table, again)
	printMarkdown(&markdown, again)
	for name, text := range map[string]string{"table": table.String(), "Markdown": markdown.String()} {
		if !strings.Contains(text, "9.38") || !strings.Contains(text, "50 %") || !strings.Contains(text, "c: why") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if err := draw(filepath.Join(t.TempDir(), "r.svg"), again); err != nil {
		t.Error(err)
	}
	if err := draw(filepath.Join(t.TempDir(), "r.svg"), Result{Rows: r.Rows[3:]}); err == nil {
		t.Error("a chart without ratios was drawn")
	}
}

func TestKernelTexts(t *testing.T) {
	p, ok := parseStat("12 (a b) c) S 7 12 12 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 5")
	if want := (process{7, 127}); !ok || p != want {
		t.Errorf("stat: %+v %v, want %+v", p, ok, want)
	}
	d := device{254, 0}
	if n := blkio("254:0 Read 123\n254:0 Write 5\n25:254 Read 4\nTotal 130\n", d); n != 123 {
		t.Errorf("blkio: %d", n)
	}
	if r, b := ioStat("8:0 rbytes=1 rios=2\n254:0 rbytes=4096 wbytes=2 rios=7 wios=0\n", d); r != 7 || b != 4096 {
		t.Errorf("io.stat: %d requests, %d bytes", r, b)
	}
}
