package cache

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	"solarfs/h5backend"
	"solarfs/planner"
)

const bigBytes = 3 << 20

// bigSource fills values with their sample's number.
type bigSource struct{ reads atomic.Int64 }

func (s *bigSource) Read(_ context.Context, reqs []h5backend.Request) {
	for i := range reqs {
		s.reads.Add(1)
		fillWith(reqs[i].Dst, reqs[i].Sample)
	}
}

func fillWith(dst []byte, sample uint32) {
	for i := range dst {
		dst[i] = byte(int(sample)*7 + i>>8)
	}
}

// Large values that are read out of order come in pieces of a megabyte, but
// from storage once while there is memory to keep them, and are right in any case.
func TestLargeStrays(t *testing.T) {
	fields := []h5backend.Field{{Path: "v", Name: "v", DType: "|u1", Shape: []int{bigBytes}, Bytes: bigBytes}}
	spec := planner.Spec{Samples: 12, Nodes: 1, RanksPerNode: 1, BatchSize: 2, Epochs: 2, Order: planner.OrderSequential}
	for _, c := range []struct {
		name     string
		stray    int64
		readers  int
		readOnce bool
	}{
		{"kept", 16 * bigBytes, 1, true}, {"shared", 16 * bigBytes, 4, true}, {"too little", bigBytes, 4, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := &bigSource{}
			cache, err := New(Config{
				Spec: spec, Fields: fields, Ahead: &bigSource{}, Now: src, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
				Memory: Split{Window: StepBytes(spec, fields), Stray: c.stray},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer cache.Close()
			want := make([]byte, 2*bigBytes)
			fillWith(want[:bigBytes], 6)
			fillWith(want[bigBytes:], 7)
			var readers sync.WaitGroup
			for range c.readers {
				readers.Go(func() {
					h, err := cache.Open(t.Context(), BatchID{Epoch: 1, Step: 3})
					if err != nil {
						t.Error(err)
						return
					}
					defer h.Close()
					got := make([]byte, 0, h.layout.Size())
					for piece := make([]byte, 1<<20); ; {
						n, err := h.ReadAt(t.Context(), piece, int64(len(got)))
						if err != nil {
							t.Error(err)
						}
						if n == 0 {
							break
						}
						got = append(got, piece[:n]...)
					}
					if !bytes.Equal(got[len(h.layout.Header):], want) {
						t.Error("wrong bytes")
					}
				})
			}
			readers.Wait()
			if reads := src.reads.Load(); c.readOnce && reads > int64(2*c.readers) {
				t.Errorf("%d readers of 2 values took %d reads", c.readers, reads)
			}
		})
	}
}
