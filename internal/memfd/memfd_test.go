package memfd

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUnusedSeesOpenAndMappedReaders(t *testing.T) {
	f, err := New(8192, 8192)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !f.Unused() {
		t.Fatal("a fresh file counts as used")
	}
	reader, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if f.Unused() {
		t.Error("an open reader is not seen")
	}
	view, err := unix.Mmap(int(reader.Fd()), 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	if f.Unused() {
		t.Error("a mapping that outlives its descriptor is not seen")
	}
	f.Data[17] = 42
	if view[17] != 42 {
		t.Error("the mapping does not show what is written")
	}
	unix.Munmap(view)
	if !f.Unused() {
		t.Error("still used after the mapping is gone")
	}
}

// A file that is made smaller and larger again is as long as it says, for its
// descriptor and its mapping alike, and gives its pages back meanwhile.
func TestResize(t *testing.T) {
	const page = 4096
	f, err := New(3*page, 4*page)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	blocks := func() int64 {
		var st unix.Stat_t
		if err := unix.Fstat(f.Fd(), &st); err != nil {
			t.Fatal(err)
		}
		if int(st.Size) != len(f.Data) {
			t.Errorf("the file has %d bytes, its data %d", st.Size, len(f.Data))
		}
		return st.Blocks * 512 / page
	}
	for _, c := range []struct{ size, blocks int }{{3 * page, 3}, {page + 1, 2}, {4 * page, 4}, {1, 1}} {
		if err := f.Resize(c.size); err != nil {
			t.Fatal(err)
		}
		for i := range f.Data {
			f.Data[i] = 7
		}
		if got := blocks(); int(got) != c.blocks || cap(f.Data) != 4*page {
			t.Errorf("%d bytes take %d pages of %d", c.size, got, cap(f.Data))
		}
	}
}
