package batchfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// numpy itself must read what we lay out, for shapes of every rank.
func TestNpyReadByNumpy(t *testing.T) {
	cases := []struct {
		dtype    string
		sample   []int
		rowBytes int
		rows     int
	}{
		{"<f4", []int{64, 64, 1}, 16384, 3}, {"<i8", nil, 8, 5}, {"|u1", []int{7}, 7, 1},
		{"<f2", []int{2, 3}, 12, 0}, {"<f8", []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 8, 100000},
	}
	dir := t.TempDir()
	for i, c := range cases {
		l := Npy(c.dtype, c.sample, c.rowBytes, c.rows)
		data := make([]byte, l.Size())
		copy(data, l.Header)
		for j := len(l.Header); j < len(data); j++ {
			data[j] = byte(j)
		}
		if len(l.Header)%npyAlign != 0 {
			t.Errorf("%v: header of %d bytes is not aligned", c, len(l.Header))
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.npy", i))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("/usr/bin/python3", "-c",
			`import numpy as np,sys; a=np.load(sys.argv[1]); sys.stdout.buffer.write(("%s %s\n"%(a.dtype.str,a.shape)).encode()+a.tobytes())`, path).CombinedOutput()
		if err != nil {
			t.Fatalf("numpy: %v\n%s", err, out)
		}
		head, body, _ := bytes.Cut(out, []byte("\n"))
		shape := fmt.Sprint(append([]int{c.rows}, c.sample...))
		if want := c.dtype + " " + pyTuple(append([]int{c.rows}, c.sample...)); string(head) != want {
			t.Errorf("numpy sees %q, want %q (%s)", head, want, shape)
		}
		if !bytes.Equal(body, data[len(l.Header):]) {
			t.Errorf("%v: numpy reads other bytes", c)
		}
	}
}

func pyTuple(dims []int) string {
	s := "("
	for i, d := range dims {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprint(d)
	}
	if len(dims) == 1 {
		s += ","
	}
	return s + ")"
}

// Any cut, read part by part, gives the bytes of the whole file.
func TestCutGivesTheFilesBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		l := Layout{Header: make([]byte, rng.IntN(20)), RowBytes: 1 + rng.IntN(9), Rows: rng.IntN(6)}
		whole := make([]byte, l.Size())
		for i := range whole {
			whole[i] = byte(rng.Uint32())
		}
		copy(l.Header, whole)
		off, n := rng.Int64N(l.Size()+3), rng.IntN(40)
		header, parts := l.Cut(off, n)
		got := append([]byte{}, header...)
		for _, p := range parts {
			got = append(got, whole[l.RowOffset(p.Row)+int64(p.From):l.RowOffset(p.Row)+int64(p.To)]...)
		}
		want := whole[min(off, l.Size()):min(off+int64(n), l.Size())]
		if !bytes.Equal(got, want) {
			t.Fatalf("layout %+v, range %d+%d: got %v, want %v", l, off, n, got, want)
		}
	}
}
