package h5backend

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"solarfs/storage"
)

// Whatever is asked for in whatever order, with whatever gap, every sample has the bytes that h5py reads, though reads come short and
// some fail once.
func TestRandomRequests(t *testing.T) {
	dir, all := makeFiles(t)
	for _, rows := range []int{11, 50, 100} {
		var names []string
		var want [][]byte
		for _, g := range all {
			if g.File == "chunks.h5" && g.Rows == rows {
				names, want = append(names, g.Dataset), append(want, g.want(t))
			}
		}
		synctest.Test(t, func(t *testing.T) {
			f := &faulty{}
			s, err := open([]string{filepath.Join(dir, "chunks.h5")}, names, func(p preader) preader { f.preader = p; return f })
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range 40 {
				o := ReaderOptions{Depth: 1 + rand.IntN(4), Gap: rand.Int64N(1 << rand.IntN(21))}
				bad := rand.IntN(20)
				f.set(func(n int, _, _ int64) error {
					if n == bad {
						return syscall.EIO
					}
					return nil
				})
				reqs := make([]Request, 1+rand.IntN(4*rows))
				for i := range reqs {
					field := rand.IntN(len(names))
					reqs[i] = Request{Field: field, Sample: uint32(rand.IntN(rows)), Dst: make([]byte, s.fields[field].Bytes)}
				}
				s.NewReader(o).Read(t.Context(), reqs)
				for _, q := range reqs {
					if size := len(q.Dst); q.Err != nil || !bytes.Equal(q.Dst, want[q.Field][int(q.Sample)*size:][:size]) {
						t.Fatalf("%+v: %s, sample %d differs (error %v)", o, names[q.Field], q.Sample, q.Err)
					}
				}
			}
		})
	}
}

// Bytes that cannot be read fail nobody who does not need them: not where they lie in a gap, and of neighbours only those that need them.
func TestBadBytesBetween(t *testing.T) {
	dir, all := makeFiles(t)
	for _, g := range all {
		if g.Dataset != "g/f8be" && g.Dataset != "sgz-3" && g.Dataset != "gz-1" {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			s, f := openFaulty(t, filepath.Join(dir, g.File), g.Dataset)
			bad, _ := place(s.files[0].parts[0], 9)
			f.set(func(_ int, off, end int64) error {
				if off <= bad && bad < end {
					return syscall.EIO
				}
				return nil
			})
			samples := []uint32{3, 6, 12, 15, 6}
			r := s.NewReader(ReaderOptions{Depth: 1, Gap: 1 << 20})
			compare(t, g.want(t), s.fields[0].Bytes, samples, readAll(t, r, 0, samples))
			reqs := requests(s, 0, append(samples, 9, 9))
			r.Read(t.Context(), reqs)
			for _, q := range reqs {
				checkFailed(t, g, s, q, q.Sample == 9)
			}
			if st := s.Stats(); st.Retries < 2 {
				t.Errorf("%+v", st)
			}
		})
	}
}

// Runs of large chunks are decoded on several processors; one of them that is corrupt fails alone, wherever it stands.
func TestCorruptChunkInRun(t *testing.T) {
	file := h5py(t, filepath.Join(t.TempDir(), "f.h5"), `
a=np.random.default_rng(3).integers(0,2**14,(60,4096)).astype('>i4')
f.create_dataset('x',data=a,chunks=(1,4096),compression='gzip',compression_opts=1)
f.create_dataset('y',data=a,chunks=(2,4096),compression='gzip',compression_opts=1,shuffle=True)
f.create_dataset('want',data=a.astype('<i4'))
at=[f[n].id.get_chunk_info(k) for n,k in (('x',29),('y',7))]
f.close()
b=open(file,'r+b')
for i in at: b.seek(i.byte_offset+i.size//2); b.write(b'garbage!')
b.close()
f=h5py.File(file,'a')`)
	synctest.Test(t, func(t *testing.T) {
		s := mustOpen(t, []string{file}, "x", "y", "want")
		r := s.NewReader(ReaderOptions{Depth: 2, Gap: storage.MaxGap})
		samples := shuffled(60)
		want := readAll(t, r, 2, samples)
		reqs := append(requests(s, 0, samples), requests(s, 1, samples)...)
		r.Read(t.Context(), reqs)
		for i, q := range reqs {
			bad := q.Field == 0 && q.Sample == 29 || q.Field == 1 && q.Sample/2 == 7
			if bad != (q.Err != nil) || !bad && !bytes.Equal(q.Dst, want[i%len(samples)]) {
				t.Errorf("field %d, sample %d: error %v, or it differs", q.Field, q.Sample, q.Err)
			}
		}
	})
}

// A chunk that is larger than any run is read whole.
func TestLargeChunk(t *testing.T) {
	file := h5py(t, filepath.Join(t.TempDir(), "f.h5"), `
a=np.random.default_rng(3).integers(0,2**40,(12,40000))
f.create_dataset('x',data=a,chunks=(8,40000),compression='gzip',compression_opts=1)
f.create_dataset('want',data=a)`)
	s := mustOpen(t, []string{file}, "x", "want")
	if stored := s.files[0].parts[0].chunks[0].size; stored < maxRun {
		t.Fatalf("a chunk has only %d bytes", stored)
	}
	samples := shuffled(12)
	r := s.NewReader(ReaderOptions{Depth: 2, Gap: storage.MaxGap})
	want, got := readAll(t, r, 1, samples), readAll(t, r, 0, samples)
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("sample %d differs", samples[i])
		}
	}
	if st := s.Stats(); st.Reads > 2+int64(len(want)) {
		t.Errorf("%d reads", st.Reads)
	}
}

// A run keeps all its bounds, and ends only where the next piece would break one.
func TestRunBounds(t *testing.T) {
	parts := []*part{{bytes: 1}, {bytes: 1}}
	for range 2000 {
		gap := rand.Int64N(1 << rand.IntN(21))
		largest := 1 + rand.IntN(1<<rand.IntN(22))
		at := uint64(0)
		var pieces []piece
		for range 1 + rand.IntN(3000) {
			one := piece{how: wayDirect, file: rand.IntN(1000) / 999, part: parts[rand.IntN(2)], at: at, size: 1 + rand.IntN(largest)}
			if n := len(pieces); n > 0 && rand.IntN(3) == 0 {
				one = pieces[n-1]
			}
			pieces = append(pieces, one)
			at = one.at + uint64(one.size) + uint64(rand.Int64N(2*gap+2)*rand.Int64N(2))
		}
		for len(pieces) > 0 {
			n := run(pieces, gap)
			if err := bounds(pieces[:n], gap); err != nil {
				t.Fatal(err)
			}
			if n < len(pieces) && bounds(pieces[:n+1], gap) == nil {
				t.Fatalf("a run of %d pieces could be longer", n)
			}
			pieces = pieces[n:]
		}
	}
}

// bounds says what a run breaks.
func bounds(pieces []piece, gap int64) error {
	end, buffers, distinct := pieces[0].at+uint64(pieces[0].size), 1, 1
	for i := 1; i < len(pieces); i++ {
		p := &pieces[i]
		between := int64(p.at) - int64(end)
		switch {
		case p.file != pieces[0].file:
			return errors.New("two files")
		case p.again(&pieces[i-1]):
			continue
		case between < 0 || between > gap:
			return errors.New("too far apart")
		}
		end = p.at + uint64(p.size)
		distinct++
		buffers += 1 + (int(between)+junkBytes-1)/junkBytes
	}
	if buffers > maxBuffers || distinct > 1 && end-pieces[0].at > maxRun {
		return errors.New("too large")
	}
	return nil
}

// BenchmarkPlan plans 8192 requests of a file with two fields and cuts them into runs, in nanoseconds a request.
func BenchmarkPlan(b *testing.B) {
	const rows, n = 1 << 20, 1 << 13
	file := &sourceFile{}
	s := &Set{fields: []Field{{Bytes: 4096}, {Bytes: 8}}, first: []int{0}, total: rows}
	s.files = []*fileParts{{src: file, rows: rows, parts: []*part{{file: file, bytes: 4096, rows: rows, start: 1 << 20}, {file: file, bytes: 8, rows: rows}}}}
	small, large := make([]byte, 8), make([]byte, 4096)
	for _, sorted := range []bool{true, false} {
		name := map[bool]string{true: "sorted", false: "random"}[sorted]
		b.Run(name, func(b *testing.B) {
			reqs := make([]Request, n)
			for i := range reqs {
				sample := i / 2 * (rows / n)
				if !sorted {
					sample = rand.IntN(rows)
				}
				reqs[i] = Request{Field: i % 2, Sample: uint32(sample), Dst: [2][]byte{large, small}[i%2]}
			}
			b.ReportAllocs()
			runs := 0
			for b.Loop() {
				p := s.plan(reqs)
				for rest := p.pieces; len(rest) > 0; runs++ {
					rest = rest[run(rest, 64<<10):]
				}
				p.done()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/request")
		})
	}
}
