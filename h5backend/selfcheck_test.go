package h5backend

import (
	"path/filepath"
	"slices"
	"testing"
)

// The check at Open finds a wrong place and a wrong byte order, and takes what is right.
func TestSelfCheckFindsWrongPlaces(t *testing.T) {
	dir, _ := makeFiles(t)
	cases := []struct {
		file, dataset string
		spoil         func(p *part)
	}{
		{"plain.h5", "g/f4le", func(p *part) { p.start += 4 }},
		{"plain.h5", "g/f4be", func(p *part) { p.swap = false }},
		{"chunks.h5", "none-3", func(p *part) { slices.Reverse(p.chunks) }},
		{"chunks.h5", "none-16", func(p *part) { p.chunks[3].off -= 512 }},
		{"chunks.h5", "sgz-16", func(p *part) { p.chunks[0], p.chunks[3] = p.chunks[3], p.chunks[0] }},
		{"odd.h5", "masked", func(p *part) { p.chunks[0].mask = 1 }},
		{"latest.h5", "raw_edge", func(p *part) { p.chunks[len(p.chunks)-1].mask = 0 }},
		{"userblock-earliest.h5", "gz", func(p *part) {
			for i := range p.chunks {
				p.chunks[i].off -= 512
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.dataset, func(t *testing.T) {
			s := mustOpen(t, []string{filepath.Join(dir, c.file)}, c.dataset)
			p := s.files[0].parts[0]
			if err := checkByLib(t, p); err != nil {
				t.Errorf("refused though it is right: %v", err)
			}
			c.spoil(p)
			if err := checkByLib(t, p); err == nil {
				t.Error("the fault is not found")
			}
		})
	}
}

func checkByLib(t *testing.T, p *part) error {
	t.Helper()
	return inLib(func() error {
		lib, err := openLib(p.file.path)
		if err != nil {
			t.Fatal(err)
		}
		defer lib.Close()
		ds, err := lib.OpenDataset("/" + p.path)
		if err != nil {
			t.Fatal(err)
		}
		defer ds.Close()
		return p.selfCheck(ds, thoroughChecks)
	})
}
