package slowfs

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func writeRandom(t *testing.T, dir, name string, size int) []byte {
	t.Helper()
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{byte(size)}).Read(data)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o640); err != nil {
		t.Fatal(err)
	}
	return data
}

// newMount mounts in this process, quick enough for tests that look at bytes.
func newMount(t *testing.T, source string) *Mount {
	t.Helper()
	m, err := New(source, t.TempDir(), Speed{Latency: ms, Bandwidth: 1e9, AtOnce: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// same compares attributes by which a reader knows a file.
func same(t *testing.T, a, b string) {
	t.Helper()
	var x, y syscall.Stat_t
	if err := syscall.Lstat(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Lstat(b, &y); err != nil {
		t.Fatal(err)
	}
	if x.Ino != y.Ino || x.Size != y.Size || x.Mtim != y.Mtim || x.Mode != y.Mode || x.Nlink != y.Nlink || x.Uid != y.Uid {
		t.Errorf("%s: %+v\n%s: %+v", a, x, b, y)
	}
}

// tree is what a directory holds, as paths in it and bytes; links by their targets.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	held := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		var content []byte
		switch entry.Type() {
		case 0:
			content, err = os.ReadFile(path)
		case fs.ModeSymlink:
			var target string
			target, err = os.Readlink(path)
			content = []byte(target)
		}
		held[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func TestShowsTheSource(t *testing.T) {
	source := t.TempDir()
	for name, size := range map[string]int{"large": 3<<20 + 17, "small": 5, "empty": 0, "a/b/page": 4096} {
		writeRandom(t, source, name, size)
	}
	if err := os.Symlink("a/b/page", filepath.Join(source, "link")); err != nil {
		t.Fatal(err)
	}
	m := newMount(t, source)
	want, got := tree(t, source), tree(t, m.dir)
	if len(got) != len(want) {
		t.Errorf("the mount lists %d entries, the source %d", len(got), len(want))
	}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s: %d bytes in the mount are not the source's %d", name, len(got[name]), len(content))
		}
		same(t, filepath.Join(source, name), filepath.Join(m.dir, name))
	}
	bytes := int64(3<<20 + 17 + 5 + 4096)
	if c := m.Reset(); c.Bytes != bytes {
		t.Errorf("counted %d bytes, %d were read", c.Bytes, bytes)
	}
	if c := m.Counts(); c != (Counts{}) {
		t.Errorf("after a reset: %+v", c)
	}
}

func TestCountsRequests(t *testing.T) {
	source := t.TempDir()
	data := writeRandom(t, source, "data", 5<<20)
	m := newMount(t, source)
	f, err := os.Open(m.dir + "/data")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, test := range []struct {
		off  int64
		size int
		want Counts
		err  error
	}{
		{1, 100, Counts{1, 100}, nil},
		{1, 100, Counts{1, 100}, nil}, // nothing is cached
		{4096, 65536, Counts{1, 65536}, nil},
		{int64(len(data)) - 10, 100, Counts{1, 10}, io.EOF},
		{int64(len(data)), 100, Counts{}, io.EOF},
		{int64(len(data)) + 1<<20, 100, Counts{}, io.EOF},
	} {
		m.Reset()
		buf := make([]byte, test.size)
		n, err := f.ReadAt(buf, test.off)
		if err != test.err || int64(n) != test.want.Bytes || m.Counts() != test.want {
			t.Errorf("%d bytes at %d: got %d, %v; counted %+v, want %+v", test.size, test.off, n, err, m.Counts(), test.want)
		}
		if n > 0 && !bytes.Equal(buf[:n], data[test.off:test.off+int64(n)]) {
			t.Errorf("%d bytes at %d are not the source's", n, test.off)
		}
	}
}

// A mapping is read by a process of its own: a fault in this one could wait for itself.
func TestMapped(t *testing.T) {
	source := t.TempDir()
	writeRandom(t, source, "data", 1<<20+3)
	m := newMount(t, source)
	const script = "import mmap,sys\nfiles=[open(p,'rb') for p in sys.argv[1:]]\na,b=[mmap.mmap(f.fileno(),0,prot=mmap.PROT_READ) for f in files]\nsys.exit(a[:]!=b[:])"
	if out, err := exec.Command("/usr/bin/python3", "-c", script, m.dir+"/data", source+"/data").CombinedOutput(); err != nil {
		t.Errorf("a mapping in the mount is not the source's: %v\n%s", err, out)
	}
	if c := m.Counts(); c.Requests == 0 {
		t.Error("a mapping was read without a request")
	}
}

// A file that takes another's name, and one that grows, are seen at once; an open
// file stays what it is.
func TestSourceChanges(t *testing.T) {
	source := t.TempDir()
	old := writeRandom(t, source, "data", 1000)
	m := newMount(t, source)
	f, err := os.Open(m.dir + "/data")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	same(t, source+"/data", m.dir+"/data")
	writeRandom(t, source, "new", 2000)
	if err := os.Rename(source+"/new", source+"/data"); err != nil {
		t.Fatal(err)
	}
	same(t, source+"/data", m.dir+"/data")
	got := make([]byte, len(old))
	if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, old) {
		t.Errorf("the open file changed, or %v", err)
	}
	info, err := f.Stat()
	if err != nil || info.Size() != 1000 {
		t.Errorf("the open file: %v, %v", info, err)
	}
	writeRandom(t, source, "data", 3000)
	same(t, source+"/data", m.dir+"/data")
	if data, err := os.ReadFile(m.dir + "/data"); err != nil || len(data) != 3000 {
		t.Errorf("read %d bytes of 3000: %v", len(data), err)
	}
}

func TestReadOnly(t *testing.T) {
	m := newMount(t, t.TempDir())
	if err := os.WriteFile(m.dir+"/new", nil, 0o644); err == nil {
		t.Error("a file was made")
	}
}
