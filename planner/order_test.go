package planner

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
)

var big = flag.Bool("big", false, "also check a permutation of 214,748,364 samples (860 MB, half a minute or more)")

// int64Sum is how the vectors hash samples: SHA-256 over little-endian int64.
func int64Sum(samples []uint32) string {
	h := sha256.New()
	var buf []byte
	for part := range slices.Chunk(samples, 1<<16) {
		buf = buf[:0]
		for _, s := range part {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(s))
		}
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil))
}

type vectors struct {
	Randperm []struct {
		N           int
		Seed        int64
		First, Last []uint32
		SHA256      string
	}
	DistributedSampler []struct {
		N, World, Epoch int
		Seed            int64
		DropLast        bool `json:"drop_last"`
		PerRank         int  `json:"per_rank"`
		First           [][]uint32
		SHA256          []string
	} `json:"distributed_sampler"`
}

func readVectors(t *testing.T) (v vectors) {
	data, err := os.ReadFile("testdata/torch_order.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Randperm) != 54 || len(v.DistributedSampler) != 180 {
		t.Fatalf("%d and %d vectors, want 54 and 180", len(v.Randperm), len(v.DistributedSampler))
	}
	return v
}

func TestRandpermVectors(t *testing.T) {
	for _, v := range readVectors(t).Randperm {
		got := Spec{Samples: v.N, Nodes: 1, RanksPerNode: 1, BatchSize: 1, Seed: v.Seed, Order: OrderTorch}.EpochOrder(0)
		if sum := int64Sum(got); sum != v.SHA256 || !slices.Equal(got[:len(v.First)], v.First) || !slices.Equal(got[len(got)-len(v.Last):], v.Last) {
			t.Errorf("n=%d seed=%d: begins %v, sum %s, want %v, %s", v.N, v.Seed, got[:len(v.First)], sum, v.First, v.SHA256)
		}
	}
}

func TestDistributedSamplerVectors(t *testing.T) {
	for _, v := range readVectors(t).DistributedSampler {
		spec := Spec{Samples: v.N, Nodes: v.World, RanksPerNode: 1, BatchSize: 1, Seed: v.Seed, Order: OrderTorch, DropLast: v.DropLast}
		order := spec.EpochOrder(v.Epoch)
		if len(order) != v.PerRank*v.World {
			t.Errorf("%+v: %d positions, want %d x %d", spec, len(order), v.World, v.PerRank)
			continue
		}
		for rank := range v.World {
			var mine []uint32
			for i := rank; i < len(order); i += v.World {
				mine = append(mine, order[i])
			}
			if sum := int64Sum(mine); sum != v.SHA256[rank] {
				t.Errorf("%+v epoch %d rank %d: %v.., want %v..", spec, v.Epoch, rank, mine[:min(6, len(mine))], v.First[rank])
			}
		}
	}
}

// The values of torch 2.6.0 on both sides of the size where its method changes.
func TestRandpermBig(t *testing.T) {
	if !*big {
		t.Skip("needs 860 MB: run with -big")
	}
	for _, v := range []struct {
		n           int
		first, last uint32
		sum         string
	}{
		{insideOutFrom - 1, 112993252, 34850603, "6e613d44146caef6"},
		{insideOutFrom, 93268064, 187216702, "bc1a456324f5a859"},
	} {
		got := Spec{Samples: v.n, Nodes: 1, RanksPerNode: 1, BatchSize: 1, Seed: 7, Order: OrderTorch}.EpochOrder(0)
		if sum := int64Sum(got)[:16]; sum != v.sum || got[0] != v.first || got[v.n-1] != v.last {
			t.Errorf("n=%d: %d .. %d, sum %s, want %d .. %d, %s", v.n, got[0], got[v.n-1], sum, v.first, v.last, v.sum)
		}
	}
}

// TestInsideOut checks the method of large permutations at small size. Want was computed with the Python
// statement of torch's code: for i: z = random64() % (i+1); r[i] = i; r[i] = r[z]; r[z] = i.
func TestInsideOut(t *testing.T) {
	for _, c := range []struct {
		n    int
		seed uint64
		want string
	}{
		{1, 0, "[0]"},
		{2, 3, "[0 1]"},
		{20, 0, "[10 17 16 3 19 1 0 13 7 14 11 18 12 9 4 5 6 2 8 15]"},
		{20, 42, "[15 12 19 11 18 13 3 1 9 4 7 14 17 2 8 16 6 0 10 5]"},
	} {
		r := make([]uint32, c.n)
		for i := range r {
			r[i] = uint32(i)
		}
		shuffleInsideOut(r, newMT19937(c.seed))
		if got := fmt.Sprint(r); got != c.want {
			t.Errorf("n=%d seed=%d: %s, want %s", c.n, c.seed, got, c.want)
		}
	}
}

func TestSequentialOrder(t *testing.T) {
	spec := Spec{Samples: 3, Nodes: 2, RanksPerNode: 4, BatchSize: 1, Epochs: 2, Order: OrderSequential}
	for epoch := range 2 {
		if got, want := spec.EpochOrder(epoch), []uint32{0, 1, 2, 0, 1, 2, 0, 1}; !slices.Equal(got, want) {
			t.Errorf("epoch %d: %v, want %v", epoch, got, want)
		}
	}
}
