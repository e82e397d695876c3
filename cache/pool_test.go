package cache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"solarfs/internal/memfd"
)

const page = 4096

// fixed wants files that never have another size.
func fixed(sizes []int) (wants []want) {
	for _, size := range sizes {
		wants = append(wants, want{size, size})
	}
	return wants
}

func take(t *testing.T, p *pool, sizes ...int) []*memfd.File {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	files, err := p.get(ctx, fixed(sizes))
	if err != nil {
		t.Fatalf("get %v: %v", sizes, err)
	}
	return files
}

func full(t *testing.T, p *pool, sizes ...int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.get(ctx, fixed(sizes)); !errors.Is(err, context.DeadlineExceeded) {
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

// Files of one class take each other's pages, at what they cost with their size.
func TestPoolResizes(t *testing.T) {
	p := newPool(10 * page)
	defer p.close()
	get := func(wants ...want) []*memfd.File {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		files, err := p.get(ctx, wants)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	a := get(want{2 * page, 8 * page}, want{6 * page, 8 * page})
	p.put(a[0], false)
	p.put(a[1], false)
	b := get(want{3*page - 1, 8 * page}, want{7 * page, 8 * page})
	if held, made := p.use(); held != 10*page || made != 2 || len(b[0].Data) != 3*page-1 || len(b[1].Data) != 7*page {
		t.Errorf("%d bytes held, %d files made, of %d and %d bytes", held, made, len(b[0].Data), len(b[1].Data))
	}
	p.put(b[0], false)
	p.put(b[1], false)
	c := get(want{8 * page, 8 * page}) // the other one gives way
	if held, made := p.use(); held != 8*page || made != 2 || c[0] != b[1] {
		t.Errorf("%d bytes held, %d files made", held, made)
	}
}

// Whatever sizes are wanted, nobody waits once all has come back, the files cost
// what is held, and that is the limit at most.
func TestPoolOfUnevenFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	const least, most = 20 * page, 60 * page
	for range 20 {
		p := newPool(least + rng.Int64N(most-least))
		var out []*memfd.File
		for range 300 {
			var wants []want
			for total := int64(0); ; {
				class := (1 + rng.IntN(3)) * 4 * page
				w := want{1 + rng.IntN(class), class}
				if total += p.cost(w.size); total > least || len(wants) == 4 {
					break
				}
				wants = append(wants, w)
			}
			files, _, err := p.tryGet(wants)
			if err != nil {
				t.Fatal(err)
			}
			if out = append(out, files...); files == nil && wants != nil && len(out) == 0 {
				t.Fatalf("%v do not fit, with nothing handed out of %d bytes", wants, p.limit)
			}
			for len(out) > 0 && rng.IntN(3) > 0 || files == nil && len(out) > 0 {
				i := rng.IntN(len(out))
				p.put(out[i], false)
				out[i] = out[len(out)-1]
				out = out[:len(out)-1]
			}
			held := int64(0)
			for _, f := range slices.Concat(append(slices.Collect(maps.Values(p.mu.free)), out)...) {
				held += p.cost(len(f.Data))
			}
			if held != p.mu.held || held > p.limit {
				t.Fatalf("files cost %d bytes, %d are held, of %d", held, p.mu.held, p.limit)
			}
		}
		for _, f := range out {
			p.put(f, false)
		}
		p.close()
	}
}
