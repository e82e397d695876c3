package h5backend

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// indexCase is a file with one chunked dataset, as the index walk sees it.
type indexCase struct {
	data                   []byte
	header, base, rows, c0 uint64
}

// rowBytes of the cases' datasets: four values of two bytes.
const rowValues, valueBytes = 4, 2

func (c indexCase) walk() (string, []chunkRef, error) {
	m := metaFile{bytes.NewReader(c.data), uint64(len(c.data)), c.base}
	return m.chunks(c.header, c.rows, []uint64{c.c0, rowValues, valueBytes}, 1<<20)
}

// indexCases are small files of every index that is walked, and of some that are not.
func indexCases(t testing.TB) map[string]indexCase {
	t.Helper()
	dir := t.TempDir()
	create := func(libver, block, more string) string {
		return "f.close(); f=h5py.File(file,'w',libver='" + libver + "',userblock_size=" + block + "); f.create_dataset('x',data=np.arange(4*N,dtype='i2').reshape(N,4)," + more + ")"
	}
	code := map[string]string{
		"btree":      "N=9;" + create("earliest", "0", "chunks=(2,4)"),
		"btree deep": "N=300;" + create("earliest", "0", "chunks=(1,4),compression='gzip'"),
		"user block": "N=9;" + create("earliest", "512", "chunks=(2,4)"),
		"single":     "N=9;" + create("latest", "0", "chunks=(9,4),compression='gzip'"),
		"fixed":      "N=9;" + create("latest", "0", "chunks=(2,4)"),
		"fixed gzip": "N=9;" + create("latest", "512", "chunks=(2,4),compression='gzip'"),
		"paged":      "N=1100;" + create("latest", "0", "chunks=(1,4)"),
		"extensible": "N=9;" + create("latest", "0", "chunks=(2,4),maxshape=(None,4)"),
		"btree2":     "N=9;" + create("latest", "0", "chunks=(2,4),maxshape=(None,None)"),
		"attributes": "N=9;" + create("earliest", "0", "chunks=(2,4)") + "\nfor i in range(20): f['x'].attrs['a%d'%i]=np.arange(9)",
	}
	files := map[string]string{}
	for name, text := range code {
		files[filepath.Join(dir, name)] = text
	}
	h5pyAll(t, files)
	out := map[string]indexCase{}
	for name := range code {
		out[name] = loadIndexCase(t, filepath.Join(dir, name))
	}
	return out
}

func loadIndexCase(t testing.TB, file string) indexCase {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := indexCase{data: data}
	src, err := openSource(file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.file.Close()
	if err := inLib(func() error {
		lib, err := openLib(file)
		if err != nil {
			return err
		}
		defer lib.Close()
		in, _, err := lookUp(src, lib, "x")
		c.header, c.base, c.rows, c.c0 = in.header, lib.layout.userBlock, in.dims[0], in.chunk[0]
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestIndexKinds(t *testing.T) {
	want := map[string]string{"btree": "B-tree v1", "btree deep": "B-tree v1", "user block": "B-tree v1", "single": "single chunk", "fixed": "fixed array",
		"fixed gzip": "fixed array", "paged": "fixed array", "attributes": "B-tree v1"}
	for name, c := range indexCases(t) {
		kind, refs, err := c.walk()
		if (err == nil) != (want[name] != "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err == nil && (kind != want[name] || uint64(len(refs)) != (c.rows+c.c0-1)/c.c0) {
			t.Errorf("%s: %s of %d chunks", name, kind, len(refs))
		}
	}
}

// A cut file is an error at every length, never a panic.
func TestIndexOfCutFile(t *testing.T) {
	for name, c := range indexCases(t) {
		_, whole, err := c.walk()
		if err != nil {
			continue
		}
		step := len(c.data)/400 + 1
		for n := 0; n < len(c.data); n += step {
			cut := c
			cut.data = c.data[:n]
			if _, refs, err := cut.walk(); err == nil {
				for i, r := range refs {
					if r != whole[i] || r.off+uint64(r.size) > uint64(n) {
						t.Fatalf("%s cut to %d bytes: chunk %d %+v", name, n, i, r)
					}
				}
			}
		}
	}
}

// Whatever the file says, the walk ends, stays within the file and allocates no more than it could need.
func FuzzIndex(f *testing.F) {
	for _, c := range indexCases(f) {
		f.Add(c.data, c.header, c.base, c.rows, c.c0)
	}
	f.Add([]byte("TREE"), uint64(1), undefined, uint64(1)<<40, uint64(1))
	f.Fuzz(func(t *testing.T, data []byte, header, base, rows, c0 uint64) {
		_, refs, err := indexCase{data, header, base, rows, c0}.walk()
		if err != nil {
			return
		}
		if len(refs) > len(data)/8 {
			t.Fatalf("%d chunks in %d bytes", len(refs), len(data))
		}
		for i, r := range refs {
			if r.off == 0 || r.size == 0 || r.off+uint64(r.size) > uint64(len(data)) {
				t.Fatalf("chunk %d at %d with %d bytes, in %d", i, r.off, r.size, len(data))
			}
		}
	})
}

// A B-tree whose nodes point to each other ends.
func TestBTreeCycle(t *testing.T) {
	c := indexCases(t)["btree deep"]
	for i := 0; i+8 < len(c.data); i++ {
		if string(c.data[i:i+4]) == "TREE" && c.data[i+4] == 1 && c.data[i+5] > 0 {
			key := 8 + 8*3
			children := binary.LittleEndian.Uint16(c.data[i+6:])
			for k := range int(children) {
				binary.LittleEndian.PutUint64(c.data[i+24+k*(key+8)+key:], uint64(i))
			}
			if _, _, err := c.walk(); err == nil {
				t.Error("a tree that holds itself is taken")
			}
			return
		}
	}
	t.Fatal("the file has no inner node")
}
