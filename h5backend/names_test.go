package h5backend

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The default fields are the longest readable datasets, each once; names are the last part of the path where that is unique.
func TestFieldNames(t *testing.T) {
	dir := t.TempDir()
	make := map[string]string{
		"plain": "f['x']=np.zeros((4,2)); f['y']=np.zeros(4); f['mean']=np.zeros(3); f['text']=np.array([b'a']*9); f['s']=1",
		"deep":  "f['train/x']=np.zeros(4); f['test/x']=np.zeros(4); f['train/y']=np.zeros(4)",
		"links": "f['a/x']=np.zeros(4); f['a/up']=f['/']; f['b']=f['a']; f['z']=h5py.SoftLink('/a/x'); f['d']=f['a/x']; f['gone']=h5py.SoftLink('/no')",
		"equal": "f['a=b']=np.zeros(4); f['a']=np.zeros(5)",
	}
	files := map[string]string{}
	for name, code := range make {
		files[filepath.Join(dir, name)] = code
	}
	h5pyAll(t, files)
	cases := []struct {
		file         string
		args         []string
		paths, names []string
		samples      int
	}{
		{"plain", nil, []string{"x", "y"}, []string{"x", "y"}, 4},
		{"plain", []string{"/mean=m"}, []string{"mean"}, []string{"m"}, 3},
		{"deep", nil, []string{"test/x", "train/x", "train/y"}, []string{"test.x", "train.x", "y"}, 4},
		{"deep", []string{"train/x", "test/x=t", "train/y"}, []string{"train/x", "test/x", "train/y"}, []string{"x", "t", "y"}, 4},
		{"links", nil, []string{"a/x"}, []string{"x"}, 4},
		{"links", []string{"z"}, []string{"z"}, []string{"z"}, 4},
		{"equal", []string{"a=b"}, []string{"a=b"}, []string{"a=b"}, 4},
		{"equal", []string{"a=c"}, []string{"a"}, []string{"c"}, 5},
	}
	for _, c := range cases {
		s := mustOpen(t, []string{filepath.Join(dir, c.file)}, c.args...)
		var paths, names []string
		for _, f := range s.Fields() {
			paths, names = append(paths, f.Path), append(names, f.Name)
		}
		if !slices.Equal(paths, c.paths) || !slices.Equal(names, c.names) || s.Samples() != c.samples {
			t.Errorf("%s %v: %v %v, %d samples", c.file, c.args, paths, names, s.Samples())
		}
	}
}

// What the default rule leaves out is listed with the reason, by Open and by Describe alike.
func TestLeftOut(t *testing.T) {
	file := h5py(t, filepath.Join(t.TempDir(), "f.h5"), "f['g/x']=np.zeros((4,2)); f['y']=f['g/x']; f['short']=np.zeros(3); f['flag']=np.zeros(4,bool)")
	var got []string
	for _, l := range mustOpen(t, []string{file}).LeftOut() {
		got = append(got, l.Path+": "+l.Why)
	}
	if len(got) != 3 || !strings.Contains(got[0], "flag: type enum (h5py's bool)") || got[1] != "short: 3 samples of 4" || got[2] != "y: the same dataset as g/x" {
		t.Errorf("left out: %q", got)
	}
	if left := mustOpen(t, []string{file}, "g/x").LeftOut(); len(left) != 0 {
		t.Errorf("left out though fields are named: %v", left)
	}
	all, err := Describe(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Path+"="+d.Name)
		if (d.Name == "") == (d.LeftOut == "") {
			t.Errorf("%s: name %q, left out %q", d.Path, d.Name, d.LeftOut)
		}
	}
	if want := []string{"flag=", "g/x=x", "short=", "y="}; !slices.Equal(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
}

func TestDTypesAreNative(t *testing.T) {
	dir, _ := makeFiles(t)
	s := mustOpen(t, []string{filepath.Join(dir, "plain.h5")}, "g/f4be", "g/u1le", "g/f2le", "g/i8be")
	var got []string
	for _, f := range s.Fields() {
		got = append(got, f.DType)
		if !slices.Equal(f.Shape, []int{5, 3}) {
			t.Errorf("shape %v", f.Shape)
		}
	}
	if want := []string{"<f4", "|u1", "<f2", "<i8"}; !slices.Equal(got, want) {
		t.Errorf("dtypes %v, want %v", got, want)
	}
}

func TestDescribe(t *testing.T) {
	dir, _ := makeFiles(t)
	odd, err := Describe(filepath.Join(dir, "odd.h5"))
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]Dataset{}
	for _, d := range odd {
		byPath[d.Path] = d
	}
	m := byPath["masked"]
	if m.DType != "<f4" || m.Layout != "chunked" || m.Index != "B-tree v1" || !slices.Equal(m.Filters, []string{"shuffle", "gzip-4"}) ||
		!slices.Equal(m.Shape, []uint64{40, 5}) || !slices.Equal(m.Chunk, []uint64{4, 5}) || !m.Field || m.Read != "decode" || m.Stored == 0 {
		t.Errorf("masked: %+v", m)
	}
	if s := byPath["sparse"]; s.Read != "h5dread" || s.DType != ">f4" || !strings.Contains(s.Why, "not stored") {
		t.Errorf("sparse: %+v", s)
	}
	if c := byPath["compact"]; c.Layout != "compact" || c.Read != "h5dread" || c.Why == "" {
		t.Errorf("compact: %+v", c)
	}
}

// descriptors counts this process's open files on a path; libhdf5 closes its own only when no dataset of it is open.
func descriptors(t *testing.T, file string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		if to, err := os.Readlink(fd); err == nil && to == file {
			n++
		}
	}
	return n
}

// Open keeps one descriptor where all reads are direct, two with libhdf5's, and none after Close or a failure.
func TestDescriptorsAreClosed(t *testing.T) {
	dir, _ := makeFiles(t)
	for _, c := range []struct {
		file  string
		args  []string
		while int
	}{
		{"chunks.h5", []string{"sgz-16", "none-1"}, 1},
		{"odd.h5", []string{"masked", "sparse"}, 2},
		{"odd.h5", []string{"sparse", "none"}, 0},
		{"odd.h5", []string{"sparse", "compact"}, 0},
		{"chunks.h5", nil, 1},
	} {
		file := filepath.Join(dir, c.file)
		s, err := Open([]string{file}, c.args)
		if got := descriptors(t, file); got != c.while {
			t.Errorf("%s %v: %d descriptors, want %d (error %v)", c.file, c.args, got, c.while, err)
		}
		if err == nil {
			s.Close()
		}
		if _, err := Describe(file); err != nil {
			t.Error(err)
		}
		if got := descriptors(t, file); got != 0 {
			t.Errorf("%s %v: %d descriptors after Close", c.file, c.args, got)
		}
	}
}

// A writer's lock does not keep solarfs out, and solarfs leaves none.
func TestNoFileLocks(t *testing.T) {
	file := h5py(t, filepath.Join(t.TempDir(), "f.h5"), "f['x']=np.zeros((40,16))")
	ready := filepath.Join(t.TempDir(), "ready")
	writer := exec.Command("/usr/bin/python3", "-c", `import sys, fcntl, time
f = open(sys.argv[1], 'r+b')
fcntl.flock(f, fcntl.LOCK_EX)
open(sys.argv[2], 'w').close()
sys.stdin.read()`, file, ready)
	stop, err := writer.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop.Close()
		writer.Wait()
	}()
	for i := 0; ; i++ {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if i > 1000 {
			t.Fatal("the writer did not start")
		}
		time.Sleep(10 * time.Millisecond)
	}
	mustOpen(t, []string{file}, "x")
}
