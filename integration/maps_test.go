package integration

import (
	"path/filepath"
	"testing"
)

// keepMaps maps batches, closes them, and reads on. Each map is compared with
// h5py's rows when the next hundred batches are read: one whose pages were all
// touched at once, one that nobody has touched before, and one of a batch that is
// opened once more while the first maps of it live. The maps are libc's, since
// Python's own keep a descriptor of the file.
const keepMaps = `
import ctypes, mmap, os, sys
import h5py, numpy as np
data, directory = sys.argv[1:]
values = h5py.File(data, "r")["x"][:]
samples = np.load(f"{directory}/samples.npy")
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]

def path(step):
    return f"{directory}/batch-{step:06d}.x.npy"

class Map:
    def __init__(self, step, flags, what):
        self.step, self.what = step, what
        fd = os.open(path(step), os.O_RDONLY)
        self.size = os.fstat(fd).st_size
        self.at = libc.mmap(None, self.size, mmap.PROT_READ, flags, fd, 0)
        assert self.at != ctypes.c_void_p(-1).value, os.strerror(ctypes.get_errno())
        os.close(fd)
    def check(self):
        check(self.step, ctypes.string_at(self.at, self.size), self.what)
    def end(self):
        self.check()
        libc.munmap(self.at, self.size)

def check(step, content, what):
    want = values[samples[step]].tobytes()
    assert content[128:] == want, f"batch {step}, {what}, is not h5py's"

kept = []
for step in range(len(samples)):
    while kept and kept[0].step + 100 < step:
        kept.pop(0).end()
    if step % 9:
        check(step, open(path(step), "rb").read(), "read")
        continue
    touched, lazy = Map(step, mmap.MAP_SHARED, "touched"), Map(step, mmap.MAP_PRIVATE, "untouched")
    touched.check()
    check(step, open(path(step), "rb").read(), "read beside its maps")
    kept += [touched, lazy, Map(step, mmap.MAP_SHARED, "mapped again")]
for map in kept:
    map.end()
`

// A map of a batch outlives its descriptor and the batches that are read after
// it: memory that is still mapped goes to no other batch.
func TestMapsOutliveTheirBatches(t *testing.T) {
	data := filepath.Join(t.TempDir(), "x.h5")
	make := "import h5py,sys,numpy as np\nwith h5py.File(sys.argv[1],'w') as f: f['x']=np.random.default_rng(3).integers(0,2**32,(1600,2500),'u4')"
	if r := run(t, "", python, "-c", make, data); r.code != 0 {
		t.Fatal(r.stderr)
	}
	for _, c := range []struct {
		serving string
		options []string
	}{{"passthrough", nil}, {"direct", []string{"-o", "direct_io"}}} {
		t.Run(c.serving, func(t *testing.T) {
			m := newMount(t, append([]string{"--data", data, "--epochs", "1", "--batch-size", "4", "--buffer", "1MiB", "--window", "19MiB"}, c.options...)...)
			if got := m.status().Serving; got != c.serving {
				t.Skipf("batches are served by %s here", got)
			}
			if r := run(t, "", python, "-c", keepMaps, data, m.dir+"/epoch-0000/rank-0000"); r.code != 0 {
				t.Errorf("%s\n%s", r.stderr, m.logged())
			}
			st := m.status()
			t.Logf("%d files made, %d batches read out of order", st.FilesMade, st.Strays)
			if len(st.Errors) > 0 {
				t.Errorf("errors: %q", st.Errors)
			}
		})
	}
}
