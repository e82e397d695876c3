package h5backend

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// benchFile holds rows of 64 KiB in every layout: smooth float32 that compresses about as pictures do.
func benchFile(b *testing.B) string {
	return h5py(b, filepath.Join(b.TempDir(), "bench.h5"), `
rng=np.random.default_rng(0)
a=(np.cumsum(rng.standard_normal((1024,128,128),dtype='f4'),axis=2)*4).round()/4
f.create_dataset('plain',data=a)
f.create_dataset('big',data=a,dtype='>f4')
f.create_dataset('chunk',data=a,chunks=(1,128,128))
f.create_dataset('gz',data=a,chunks=(1,128,128),compression='gzip')
f.create_dataset('sgz',data=a,chunks=(1,128,128),compression='gzip',shuffle=True)
f.create_dataset('sgz16',data=a,chunks=(16,128,128),compression='gzip',shuffle=True)
f.create_dataset('small',data=a.reshape(-1,64))`)
}

// BenchmarkRead reads 64 samples per Read in random order, by this package (own) and by H5Dread (lib).
func BenchmarkRead(b *testing.B) {
	file := benchFile(b)
	for _, dataset := range []string{"plain", "big", "chunk", "gz", "sgz", "sgz16", "small"} {
		for _, way := range []string{"own", "lib"} {
			s, err := Open([]string{file}, []string{dataset})
			if err != nil {
				b.Fatal(err)
			}
			if way == "lib" {
				forceLib(b, s)
			}
			for _, order := range []string{"random", "sorted"} {
				b.Run(dataset+"/"+way+"/"+order, func(b *testing.B) { benchReads(b, s, order == "random") })
			}
			s.Close()
		}
	}
}

func benchReads(b *testing.B, s *Set, random bool) {
	const batch = 64
	r := s.NewReader(ReaderOptions{Depth: 4})
	reqs := requests(s, 0, make([]uint32, batch))
	b.SetBytes(int64(batch * s.fields[0].Bytes))
	for next := 0; b.Loop(); next += batch {
		for i := range reqs {
			reqs[i].Sample = uint32((next + i) % s.total)
			if random {
				reqs[i].Sample = uint32(rand.IntN(s.total))
			}
		}
		r.Read(context.Background(), reqs)
		for _, q := range reqs {
			if q.Err != nil {
				b.Fatal(q.Err)
			}
		}
	}
}

// BenchmarkTimesH5Dread reads 64 random samples by this package and by H5Dread in turn, so that what else the machine does slows both, and says how
// many times as fast it is, in the median.
func BenchmarkTimesH5Dread(b *testing.B) {
	file := benchFile(b)
	for _, dataset := range []string{"plain", "big", "chunk", "gz", "sgz", "sgz16", "small"} {
		b.Run(dataset, func(b *testing.B) {
			var readers [2]*Reader
			for i := range readers {
				s, err := Open([]string{file}, []string{dataset})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				if i == 1 {
					forceLib(b, s)
				}
				readers[i] = s.NewReader(ReaderOptions{Depth: 4})
			}
			var ratios []float64
			reqs := requests(readers[0].set, 0, make([]uint32, 64))
			for b.Loop() {
				for i := range reqs {
					reqs[i].Sample = uint32(rand.IntN(readers[0].set.total))
				}
				var took [2]time.Duration
				for i, r := range readers {
					began := time.Now()
					r.Read(context.Background(), reqs)
					took[i] = time.Since(began)
				}
				ratios = append(ratios, float64(took[1])/float64(took[0]))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "times-H5Dread")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// forceLib makes libhdf5 read a set that would be read without it.
func forceLib(b *testing.B, s *Set) {
	f := s.files[0]
	err := inLib(func() error {
		var err error
		if f.lib, err = openLib(f.src.path); err != nil {
			return err
		}
		info, _, err := lookUp(f.src, f.lib, s.fields[0].Path)
		if err != nil {
			return err
		}
		f.parts[0].way = wayLib
		f.parts[0].lib, err = openLibPart(f.lib.File, "/"+s.fields[0].Path, info)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCodecs runs over one chunk of 64 KiB.
func BenchmarkCodecs(b *testing.B) {
	src, dst := randomBytes(64<<10), make([]byte, 64<<10)
	for name, f := range map[string]func(){
		"swap2":      func() { swapOrder(dst, 2) },
		"swap4":      func() { swapOrder(dst, 4) },
		"swap8":      func() { swapOrder(dst, 8) },
		"unshuffle2": func() { unshuffle(dst, src, 2, 0, false) },
		"unshuffle4": func() { unshuffle(dst, src, 4, 0, true) },
		"unshuffle8": func() { unshuffle(dst, src, 8, 0, false) },
		"fletcher32": func() { fletcher32(src) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				f()
			}
		})
	}
}

// BenchmarkOpen opens a file of 100000 chunks, whose index is walked.
func BenchmarkOpen(b *testing.B) {
	file := h5py(b, filepath.Join(b.TempDir(), "many.h5"), "f.create_dataset('x',data=np.zeros((100000,4),'f4'),chunks=(1,4))")
	for b.Loop() {
		s, err := Open([]string{file}, nil)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
