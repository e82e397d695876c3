package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"solarfs/internal/memfd"
)

const page = 4096

func take(t *testing.T, p *pool, sizes ...int) []*memfd.File {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	files, err := p.get(ctx, sizes)
	if err != nil {
		t.Fatalf("get %v: %v", sizes, err)
	}
	return files
}

func full(t *testing.T, p *pool, sizes ...int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.get(ctx, sizes); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("get %v from a full pool: %v", sizes, err)
	}
}

func TestPoolKeepsItsLimitAndUsesAgain(t *testing.T) {
	p := newPool(10 * page)
	defer p.close()
	a := take(t, p, 3*page, 2*page)
	b := take(t, p, 3*page, 2*page)
	full(t, p, 3*page)
	p.put(a[0], false)
	p.put(a[1], false)
	again := take(t, p, 3*page, 2*page)
	if again[0] != a[0] || again[1] != a[1] {
		t.Error("files were made anew though two were free")
	}
	// A free file of three pages gives way to one of two only when none of two can come back.
	p.put(again[0], false)
	full(t, p, 3*page, 2*page)
	p.put(again[1], false)
	p.put(b[1], false)
	p.put(b[0], false)
	take(t, p, 5*page)
	take(t, p, 5*page-100)
	if held, made := p.use(); held != 10*page || made != 6 {
		t.Errorf("%d bytes held, %d files made", held, made)
	}
}

// A file that its reader still maps is never handed out again.
func TestPoolGivesUpWhatIsMapped(t *testing.T) {
	p := newPool(4096)
	defer p.close()
	f := take(t, p, 4096)[0]
	f.Data[0] = 1
	reader, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	view, err := unix.Mmap(int(reader.Fd()), 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(view)
	reader.Close()
	p.put(f, true)
	next := take(t, p, 4096)[0]
	next.Data[0] = 2
	if next == f || view[0] != 1 {
		t.Error("the mapped file was handed out again")
	}
	if held, made := p.use(); held != 4096 || made != 2 {
		t.Errorf("%d bytes held, %d files made", held, made)
	}
}

// A file that only looks used for a moment comes back.
func TestPoolWaitsForTheKernel(t *testing.T) {
	p := newPool(4096)
	defer p.close()
	f := take(t, p, 4096)[0]
	reader, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	p.put(f, true)
	time.AfterFunc(limboTime/10, func() { reader.Close() })
	if next := take(t, p, 4096)[0]; next != f {
		t.Error("the file was given up at once")
	}
}
