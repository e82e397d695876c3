package h5backend

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// faulty is a preader whose reads fail as fail says, once it is set.
type faulty struct {
	preader
	mu struct {
		sync.Mutex
		reads int
		fail  func(read int, off, end int64) error
	}
}

func (f *faulty) Preadv(bufs [][]byte, off int64) (int, error) {
	f.mu.Lock()
	fail := f.mu.fail
	f.mu.reads++
	n := f.mu.reads
	f.mu.Unlock()
	if fail == nil {
		return f.preader.Preadv(bufs, off)
	}
	if err := fail(n, off, off+length(bufs)); err != nil {
		return 0, err
	}
	return f.preader.Preadv([][]byte{bufs[0][:(len(bufs[0])+1)/2]}, off) // short reads, too
}

func length(bufs [][]byte) (n int64) {
	for _, b := range bufs {
		n += int64(len(b))
	}
	return n
}

func (f *faulty) set(fail func(int, int64, int64) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.reads, f.mu.fail = 0, fail
}

func openFaulty(t *testing.T, file, dataset string) (*Set, *faulty) {
	t.Helper()
	f := &faulty{}
	s, err := open([]string{file}, []string{dataset}, func(s preader) preader { f.preader = s; return f })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, f
}

// A read that fails once or three times succeeds on a retry, with the right bytes; short reads go on.
func TestFailedReadsAreRetried(t *testing.T) {
	dir, all := makeFiles(t)
	for _, g := range all {
		if g.Dataset != "g/f4be" && g.Dataset != "sgz-16" {
			continue
		}
		for failures := range 4 {
			synctest.Test(t, func(t *testing.T) {
				s, f := openFaulty(t, filepath.Join(dir, g.File), g.Dataset)
				f.set(func(n int, _, _ int64) error {
					if n <= failures {
						return syscall.EIO
					}
					return nil
				})
				samples := []uint32{17, 18, 17, 19}
				compare(t, g.want(t), s.fields[0].Bytes, samples, readAll(t, s.NewReader(ReaderOptions{Depth: 1}), 0, samples))
				if got := s.Stats().Retries; got < int64(failures) {
					t.Errorf("%d retries after %d failures", got, failures)
				}
			})
		}
	}
}

// Bytes that cannot be read fail the requests that need them, and no others; the error says where.
func TestOneBadPlace(t *testing.T) {
	dir, all := makeFiles(t)
	for _, g := range all {
		if g.Dataset != "g/i2le" && g.Dataset != "sgz-3" && g.Dataset != "none-16" {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			s, f := openFaulty(t, filepath.Join(dir, g.File), g.Dataset)
			p := s.files[0].parts[0]
			bad, chunk := place(p, 10)
			f.set(func(_ int, off, end int64) error {
				if off <= bad && bad < end {
					return syscall.EIO
				}
				return nil
			})
			samples := make([]uint32, s.Samples())
			for i := range samples {
				samples[i] = uint32(i)
			}
			reqs := requests(s, 0, append(samples, 10))
			s.NewReader(ReaderOptions{Depth: 2}).Read(t.Context(), reqs)
			for _, q := range reqs {
				_, at := place(p, int(q.Sample))
				needs := q.Sample == 10 || p.way == wayDecode && at == chunk
				checkFailed(t, g, s, q, needs)
			}
		})
	}
}

func place(p *part, row int) (off, chunk int64) {
	if at, ok := p.offset(row); ok {
		return int64(at), -1
	}
	return int64(p.chunks[row/p.chunkRows].off), int64(row / p.chunkRows)
}

func checkFailed(t *testing.T, g generated, s *Set, q Request, fails bool) {
	t.Helper()
	var e *ReadError
	switch {
	case !fails && q.Err != nil:
		t.Errorf("sample %d: %v", q.Sample, q.Err)
	case !fails:
		compare(t, g.want(t), len(q.Dst), []uint32{q.Sample}, [][]byte{q.Dst})
	case !errors.As(q.Err, &e) || !errors.Is(q.Err, syscall.EIO):
		t.Errorf("sample %d: error %v", q.Sample, q.Err)
	case e.File != s.files[0].src.path || e.Field != g.Dataset || e.Sample != q.Sample:
		t.Errorf("error names %+v", e)
	}
}

// A corrupt chunk is an error for its own samples, whichever filter finds it.
func TestCorruptChunk(t *testing.T) {
	for name, filters := range map[string]string{
		"gzip":       "compression='gzip'",
		"shuffle":    "compression='gzip',shuffle=True",
		"fletcher32": "fletcher32=True",
		"libhdf5":    "fletcher32=True,maxshape=(None,8)",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f.h5")
			libver := map[bool]string{true: "libver='latest'", false: ""}[name == "libhdf5"]
			h5py(t, file, "f.close()\nf=h5py.File(file,'w',"+libver+")\nf.create_dataset('x',data=np.arange(320.).reshape(40,8)%7,chunks=(4,8),"+filters+")\n"+
				"i=f['x'].id.get_chunk_info(3); f.close(); b=open(file,'r+b'); b.seek(i.byte_offset+i.size//2); b.write(b'garbage!'); b.close()")
			synctest.Test(t, func(t *testing.T) {
				s := mustOpen(t, []string{file}, "x")
				reqs := requests(s, 0, shuffled(40))
				s.NewReader(ReaderOptions{Depth: 2}).Read(t.Context(), reqs)
				for _, q := range reqs {
					var e *ReadError
					if bad := q.Sample/4 == 3; bad != errors.As(q.Err, &e) || bad && e.Chunk != 3 {
						t.Errorf("sample %d: error %v", q.Sample, q.Err)
					}
				}
			})
		})
	}
}

// A file that is rewritten, touched, shortened, replaced or removed gives ErrStale, for good.
func TestStaleFile(t *testing.T) {
	changes := map[string]func(file string) error{
		"touched":   func(f string) error { return os.Chtimes(f, time.Time{}, time.Now().Add(time.Hour)) },
		"shortened": func(f string) error { return os.Truncate(f, 1000) },
		"removed":   os.Remove,
		"replaced": func(f string) error {
			b, err := os.ReadFile(f)
			return errors.Join(err, os.WriteFile(f+"~", b, 0o600), os.Rename(f+"~", f))
		},
	}
	dir := t.TempDir()
	files := map[string]string{}
	kinds := []string{"", ",compression='gzip'", ",maxshape=(None,16),chunks=(4,8)"}
	for name := range changes {
		for _, filter := range kinds {
			files[filepath.Join(dir, name+filter)] = "f.create_dataset('x',data=np.zeros((40,16))" + filter + ")"
		}
	}
	h5pyAll(t, files)
	for name, change := range changes {
		for _, filter := range kinds {
			file := filepath.Join(dir, name+filter)
			s := mustOpen(t, []string{file}, "x")
			r := s.NewReader(ReaderOptions{Depth: 2})
			readAll(t, r, 0, []uint32{0, 39})
			if err := change(file); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				reqs := requests(s, 0, []uint32{0, 39, 5})
				r.Read(t.Context(), reqs)
				for _, q := range reqs {
					if !errors.Is(q.Err, ErrStale) {
						t.Errorf("%s%s: sample %d: %v", name, filter, q.Sample, q.Err)
					}
				}
			}
		}
	}
}

// A file that changes while it is read gives no bytes of it, though the reads themselves went well.
func TestChangeDuringRead(t *testing.T) {
	file := h5py(t, filepath.Join(t.TempDir(), "f.h5"), "f['x']=np.zeros((40,16))")
	s, f := openFaulty(t, file, "x")
	f.set(func(n int, _, _ int64) error {
		if n == 2 {
			return os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour))
		}
		return nil
	})
	reqs := requests(s, 0, []uint32{0, 20})
	s.NewReader(ReaderOptions{Depth: 1}).Read(t.Context(), reqs)
	for _, q := range reqs {
		if !errors.Is(q.Err, ErrStale) {
			t.Errorf("sample %d: %v", q.Sample, q.Err)
		}
	}
}

// A read whose context ends returns with its error, also in the midst of waiting for a retry or a slot.
func TestContextEnds(t *testing.T) {
	dir, _ := makeFiles(t)
	synctest.Test(t, func(t *testing.T) {
		s, f := openFaulty(t, filepath.Join(dir, "plain.h5"), "g/f4le")
		f.set(func(int, int64, int64) error { return io.ErrUnexpectedEOF })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		reqs := requests(s, 0, []uint32{1, 5, 9})
		begin := time.Now()
		s.NewReader(ReaderOptions{Depth: 1}).Read(ctx, reqs)
		if took := time.Since(begin); took > 11*time.Millisecond {
			t.Errorf("returned after %v", took)
		}
		for _, q := range reqs {
			if !errors.Is(q.Err, context.DeadlineExceeded) {
				t.Errorf("sample %d: %v", q.Sample, q.Err)
			}
		}
	})
}

// Wrong requests fail by themselves.
func TestWrongRequests(t *testing.T) {
	dir, all := makeFiles(t)
	s := mustOpen(t, []string{filepath.Join(dir, "plain.h5")}, "g/f4le")
	reqs := requests(s, 0, []uint32{0, 37, 1, 2})
	reqs[2].Field = 1
	reqs[3].Dst = reqs[3].Dst[1:]
	s.NewReader(ReaderOptions{Depth: 1}).Read(t.Context(), reqs)
	for i, q := range reqs {
		if (q.Err == nil) != (i == 0) {
			t.Errorf("request %d: %v", i, q.Err)
		}
	}
	for _, g := range all {
		if g.File == "plain.h5" && g.Dataset == "g/f4le" {
			compare(t, g.want(t), 60, []uint32{0}, [][]byte{reqs[0].Dst})
		}
	}
	s.Close()
	s.NewReader(ReaderOptions{Depth: 1}).Read(t.Context(), reqs[:1])
	if reqs[0].Err == nil {
		t.Error("read after Close succeeded")
	}
}
