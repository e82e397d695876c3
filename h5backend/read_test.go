package h5backend

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// Every sample of every generated dataset equals h5py's bytes, read in the way that is meant for it.
func TestEverySampleOfEveryKind(t *testing.T) {
	dir, all := makeFiles(t)
	t.Logf("seed %d of the random files", files.seed)
	for _, g := range all {
		if g.Way == "-" {
			continue
		}
		t.Run(g.File+"/"+g.Dataset, func(t *testing.T) {
			s := mustOpen(t, []string{filepath.Join(dir, g.File)}, g.Dataset)
			p := s.files[0].parts[0]
			if g.Way == "any" {
				g.Way = p.way.String()
			}
			if p.way.String() != g.Way {
				t.Errorf("read by %v (%s), want %s", p.way, p.why, g.Way)
			}
			if (s.files[0].lib != nil) != (g.Way == "h5dread") {
				t.Errorf("way %v, but libhdf5's handle open: %v", p.way, s.files[0].lib != nil)
			}
			samples := shuffled(s.Samples())
			compare(t, g.want(t), p.bytes, samples, readAll(t, s.NewReader(ReaderOptions{Depth: 3, Gap: rand.Int64N(2000)}), 0, samples))
			one := []uint32{uint32(s.Samples() - 1)}
			compare(t, g.want(t), p.bytes, one, readAll(t, s.NewReader(ReaderOptions{Depth: 1}), 0, one))
		})
	}
}

// All fields of a file at once, from several goroutines with readers of their own and a shared one.
func TestConcurrentReaders(t *testing.T) {
	dir, all := makeFiles(t)
	for _, file := range []string{"latest.h5", "odd.h5", "chunks.h5"} {
		for _, rows := range []int{20, 40, 50, 100} {
			var names []string
			var want [][]byte
			for _, g := range all {
				if g.File == file && g.Rows == rows {
					names, want = append(names, g.Dataset), append(want, g.want(t))
				}
			}
			if len(names) == 0 {
				continue
			}
			s := mustOpen(t, []string{filepath.Join(dir, file)}, names...)
			shared := s.NewReader(ReaderOptions{Depth: 2, Gap: 100})
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					r := shared
					if i%2 == 0 {
						r = s.NewReader(ReaderOptions{Depth: 1 + i/2})
					}
					for f := range names {
						samples := shuffled(rows)
						compareConcurrent(t, want[f], s, r, f, samples)
					}
				})
			}
			wg.Wait()
		}
	}
}

// compareConcurrent reports by Errorf, as other goroutines than the test's may not call Fatalf.
func compareConcurrent(t *testing.T, want []byte, s *Set, r *Reader, field int, samples []uint32) {
	size := s.fields[field].Bytes
	reqs := requests(s, field, samples)
	r.Read(t.Context(), reqs)
	for _, q := range reqs {
		if q.Err != nil || !slices.Equal(q.Dst, want[int(q.Sample)*size:][:size]) {
			t.Errorf("%s: sample %d differs (error %v)", s.fields[field].Path, q.Sample, q.Err)
			return
		}
	}
}

// Files of different length, byte order and layout are one set; one of them is empty.
func TestJoinedFiles(t *testing.T) {
	dir, all := makeFiles(t)
	files, err := Resolve([]string{filepath.Join(dir, "part*.h5")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{}
	for _, name := range []string{"part0.h5", "part5.h5", "part10.h5", "part15.h5"} {
		for _, g := range all {
			if g.File == name {
				want[g.Dataset] = append(want[g.Dataset], g.want(t)...)
			}
		}
	}
	s := mustOpen(t, files)
	if s.Samples() != 21 || !slices.Equal(s.ChunkSamples(), []int{4, 1}) {
		t.Fatalf("%d samples, chunks %v", s.Samples(), s.ChunkSamples())
	}
	for i, f := range s.Fields() {
		samples := shuffled(21)
		compare(t, want[f.Path], f.Bytes, samples, readAll(t, s.NewReader(ReaderOptions{Depth: 4}), i, samples))
	}
	infos := s.Files()
	if len(infos) != 4 || infos[2].Samples != 13 || infos[1].Samples != 0 || filepath.Base(infos[2].Path) != "part10.h5" || infos[0].Size == 0 || infos[0].ModTime == 0 {
		t.Errorf("files %+v", infos)
	}
}

// Only chunks that are decoded bring more than the sample that is read.
func TestWholeChunkSamples(t *testing.T) {
	dir, _ := makeFiles(t)
	s := mustOpen(t, []string{filepath.Join(dir, "chunks.h5")}, "none-16", "sgz-16", "gz-1", "gz-50", "fl-3")
	if got := s.WholeChunkSamples(); !slices.Equal(got, []int{1, 16, 1, 50, 3}) {
		t.Errorf("%v", got)
	}
}

// What several requests need is read once; neighbours are read together, over gaps as wide as allowed, too; a lone sample of a raw chunk
// costs its own bytes only.
func TestReadsAreMerged(t *testing.T) {
	dir, _ := makeFiles(t)
	cases := []struct {
		file, dataset string
		gap           int64
		samples       []uint32
		reads, bytes  int64
	}{
		{"plain.h5", "g/f4le", 0, []uint32{4, 3, 5, 3, 9}, 2, 4 * 60},
		{"plain.h5", "g/f4be", 0, []uint32{4, 6, 8}, 3, 3 * 60},
		{"plain.h5", "g/f4be", 59, []uint32{4, 6, 8}, 3, 3 * 60},
		{"plain.h5", "g/f4be", 60, []uint32{8, 4, 6, 4, 11}, 2, 5*60 + 60},
		{"plain.h5", "g/f4be", 120, []uint32{8, 4, 6, 11}, 1, 8 * 60},
		{"chunks.h5", "none-16", 0, []uint32{20}, 1, 112},
		{"chunks.h5", "none-16", 0, []uint32{17, 16, 18}, 1, 3 * 112},
		{"chunks.h5", "fl-16", 0, []uint32{20, 17, 20, 31}, 1, 16*112 + 4},
		{"chunks.h5", "fl-16", 0, []uint32{0, 40, 41, 1}, 2, 2 * (16*112 + 4)},
		{"chunks.h5", "fl-16", 16*112 + 4, []uint32{0, 40, 41, 1}, 1, 3 * (16*112 + 4)},
		{"chunks.h5", "cut", 1 << 20, []uint32{1, 2, 1}, 2, 2 * 192},
	}
	for _, c := range cases {
		s := mustOpen(t, []string{filepath.Join(dir, c.file)}, c.dataset)
		readAll(t, s.NewReader(ReaderOptions{Depth: 2, Gap: c.gap}), 0, c.samples)
		st := s.Stats()
		if st.Reads != c.reads || st.Bytes != c.bytes || st.Samples != int64(len(c.samples)) || st.Failed != 0 {
			t.Errorf("%s %v, gap %d: %+v, want %d reads of %d bytes", c.dataset, c.samples, c.gap, st, c.reads, c.bytes)
		}
		if q := st.Latency.Quantile(0.99); q <= 0 || st.Latency.Sum <= 0 {
			t.Errorf("latency %v", st.Latency)
		}
	}
}

// Readers hold no more scratch memory than ScratchBytes says.
func TestScratchBytes(t *testing.T) {
	dir, _ := makeFiles(t)
	const chunk = 16*112 + 4
	for dataset, want := range map[string]int64{
		"none-16": 3 * junkBytes, "fl-16": 3 * (4*chunk + junkBytes + chunk), "cut": minLibCache,
	} {
		s := mustOpen(t, []string{filepath.Join(dir, "chunks.h5")}, dataset)
		if got := s.ScratchBytes(3); got != want {
			t.Errorf("%s: %d bytes, want %d", dataset, got, want)
		}
	}
	s := mustOpen(t, []string{filepath.Join(dir, "chunks.h5")}, "all-16", "gz-50", "sgz-1")
	r := s.NewReader(ReaderOptions{Depth: 2, Gap: 300})
	for f := range s.Fields() {
		readAll(t, r, f, shuffled(50))
	}
	var held int64
	for range 2 {
		slot := <-r.slots.free
		held += int64(cap(slot.stored) + cap(slot.junk))
	}
	for range cap(r.decoders) {
		held += int64(cap((<-r.decoders).decoded))
	}
	if limit := s.ScratchBytes(2); held == 0 || held > limit {
		t.Errorf("%d bytes held, limit %d", held, limit)
	}
}
