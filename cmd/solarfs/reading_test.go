package main

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"solarfs/h5backend"
	"solarfs/storage"
)

// openData makes a file by h5py and opens it.
func openData(t *testing.T, statement string) *h5backend.Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.h5")
	if out, err := exec.Command(python, "-c", "import sys,h5py,numpy as np\nwith h5py.File(sys.argv[1],'w') as f: "+statement, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	set, err := h5backend.Open([]string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set
}

// More memory gives more room for all else, whatever part of it the readers' scratch gets, and never fewer reads at once.
func TestScratchGrowsWithMemory(t *testing.T) {
	for _, statement := range []string{
		"f['x']=np.zeros((1000,4096),'u1')",
		"f.create_dataset('x',data=np.random.default_rng(1).integers(0,255,(600,8192),'u1'),chunks=(1,8192),compression='gzip')",
	} {
		set := openData(t, statement)
		room, depth := int64(math.MinInt64), 0
		for limit := int64(0); limit < 4<<30; limit += 1<<20 + limit/50 {
			bytes, most := scratchBytes(limit, set), largestDepth(limit, set)
			if limit-bytes < room || most < depth || most < aheadDepth || most > storage.MaxDepth || set.ScratchBytes(most+nowDepth) > bytes {
				t.Errorf("%s: limit %d: %d bytes of scratch, depth %d", statement, limit, bytes, most)
			}
			room, depth = limit-bytes, most
		}
		if depth != storage.MaxDepth {
			t.Errorf("%s: at most %d reads at once", statement, depth)
		}
	}
}

// The flags fix what they name, and leave the rest to the reader.
func TestReadingFlags(t *testing.T) {
	set := openData(t, "f.create_dataset('x',data=np.random.default_rng(1).integers(0,255,(600,8192),'u1'),chunks=(1,8192),compression='gzip')")
	plan := &planDoc{Memory: split{Limit: 64 << 20}, Storage: speedDoc{IOPS: 500, Bandwidth: 200e6}}
	plan.Spec.Order = "torch"
	most := largestDepth(plan.Memory.Limit, set)
	for _, c := range []struct {
		args  string
		gap   int64
		depth int
		says  string
	}{
		{"", 387712, 16, ""},
		{"--read-gap 0B", 0, 16, ""},
		{"--read-gap 96KiB --io-depth 3", 96 << 10, 3, ""},
		{"--read-gap 1MiB --io-depth auto", 1 << 20, 16, ""},
		{"--read-gap 2MiB", 0, 0, "at most 1.0 MiB"},
		{"--read-gap wide", 0, 0, "no size"},
		{"--io-depth 0", 0, 0, "at least 1"},
		{"--io-depth many", 0, 0, "--io-depth \"many\""},
		{fmt.Sprintf("--io-depth %d", most), 387712, most, ""},
		{fmt.Sprintf("--io-depth %d", most+1), 0, 0, fmt.Sprintf("at most %d", most)},
	} {
		app := &cli.App{Flags: readingFlags(), Action: func(cc *cli.Context) error {
			asked, err := askedReading(cc)
			var r readers
			if err == nil {
				r, err = newReaders(asked, plan, set)
			}
			switch {
			case c.says != "":
				if err == nil || !strings.Contains(err.Error(), c.says) || exitCode(err) != exitUse {
					t.Errorf("%s: %v", c.args, err)
				}
			case err != nil || r.ahead.Gap() != c.gap || r.ahead.Depth() != c.depth || r.now.Gap() != c.gap || r.now.Depth() != nowDepth:
				t.Errorf("%s: %v, %+v", c.args, err, newReadingDoc(r.ahead))
			}
			return nil
		}}
		if err := app.Run(append([]string{"x"}, strings.Fields(c.args)...)); err != nil {
			t.Error(err)
		}
	}
}

func TestReadingText(t *testing.T) {
	set := openData(t, "f['x']=np.zeros((1000,4096),'u1')")
	unlimited := newReadingDoc(set.NewReader(h5backend.ReaderOptions{Depth: 2, Gap: 4096}))
	for want, doc := range map[string]readingDoc{
		"reading ahead: 2 at once, over gaps of up to 4.0 KiB\n":                                            unlimited,
		"reading ahead: 16 at once, over gaps of up to 1.0 MiB; storage gives 8,000 requests/s; 400 MB/s\n": {1 << 20, 16, 8000, 400e6},
	} {
		var out strings.Builder
		if doc.print(&out); out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}
