package h5backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// python runs a script with the system's h5py.
func python(t testing.TB, args ...string) {
	t.Helper()
	out, err := exec.Command("/usr/bin/python3", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("python3 %v: %v\n%s", args, err, out)
	}
}

// h5py makes a file by statements, with f open for writing as the file named by file and numpy as np.
func h5py(t testing.TB, file, statements string) string {
	t.Helper()
	h5pyAll(t, map[string]string{file: statements})
	return file
}

// h5pyAll makes several files in one process.
func h5pyAll(t testing.TB, statements map[string]string) {
	t.Helper()
	text, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	python(t, "-c", `import sys, json, h5py, numpy as np
for file, code in json.loads(sys.argv[1]).items():
    with h5py.File(file, 'w') as f:
        exec(code)`, string(text))
}

// generated is what one dataset of the generated files must read as.
type generated struct {
	File, Dataset, Way, Raw string
	Rows                    int
}

var files struct {
	sync.Once
	dir      string
	seed     uint32 // of the random ones
	manifest []generated
}

// TestMain removes the generated files, which all tests share.
func TestMain(m *testing.M) {
	code := m.Run()
	if files.dir != "" {
		os.RemoveAll(files.dir)
	}
	os.Exit(code)
}

// makeFiles gives the directory with the files of testdata/make.py.
func makeFiles(t testing.TB) (string, []generated) {
	t.Helper()
	files.Do(func() {
		dir, err := os.MkdirTemp("", "h5backend")
		if err != nil {
			t.Fatal(err)
		}
		files.dir = dir
		files.seed = rand.Uint32()
		python(t, "testdata/make.py", dir, fmt.Sprint(files.seed))
		text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &files.manifest); err != nil {
			t.Fatal(err)
		}
	})
	if len(files.manifest) == 0 {
		t.Fatal("the files were not generated")
	}
	return files.dir, files.manifest
}

func (g generated) want(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(files.dir, g.Raw))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustOpen(t testing.TB, files []string, fields ...string) *Set {
	t.Helper()
	s, err := Open(files, fields)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// readAll reads samples of one field in one Read and fails the test on any error.
func readAll(t testing.TB, r *Reader, field int, samples []uint32) [][]byte {
	t.Helper()
	reqs := requests(r.set, field, samples)
	r.Read(context.Background(), reqs)
	out := make([][]byte, len(reqs))
	for i := range reqs {
		if reqs[i].Err != nil {
			t.Fatal(reqs[i].Err)
		}
		out[i] = reqs[i].Dst
	}
	return out
}

func requests(s *Set, field int, samples []uint32) []Request {
	reqs := make([]Request, len(samples))
	for i, k := range samples {
		reqs[i] = Request{Field: field, Sample: k, Dst: bytes.Repeat([]byte{0xa5}, s.fields[field].Bytes)}
	}
	return reqs
}

// shuffled gives all samples of n in random order, some of them twice.
func shuffled(n int) []uint32 {
	out := make([]uint32, 0, n+n/4+1)
	for _, i := range rand.Perm(n) {
		out = append(out, uint32(i))
	}
	for range n/4 + 1 {
		out = append(out, uint32(rand.IntN(n)))
	}
	return out
}

func compare(t testing.TB, want []byte, size int, samples []uint32, got [][]byte) {
	t.Helper()
	for i, k := range samples {
		if !bytes.Equal(got[i], want[int(k)*size:][:size]) {
			t.Fatalf("sample %d differs:\n got %x\nwant %x", k, got[i], want[int(k)*size:][:size])
		}
	}
}

func wantInput(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !errors.Is(err, ErrInput) {
		t.Fatalf("error %v, want an ErrInput", err)
	}
	for _, text := range texts {
		if !bytes.Contains([]byte(err.Error()), []byte(text)) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}
