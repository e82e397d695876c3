package memfd

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestUnusedSeesOpenAndMappedReaders(t *testing.T) {
	f, err := New(8192)
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
