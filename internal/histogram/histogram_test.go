package histogram

import (
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	for _, c := range []struct {
		took   time.Duration
		bucket int
	}{
		{0, 0}, {999 * time.Nanosecond, 0}, {time.Microsecond, 1}, {1999 * time.Nanosecond, 1}, {2 * time.Microsecond, 2},
		{time.Millisecond, 10}, {time.Second, 20}, {time.Hour, Buckets - 1}, {1000 * time.Hour, Buckets - 1},
	} {
		var h Histogram
		h.Observe(c.took)
		got := h.Counts()
		if got.Bucket[c.bucket] != 1 || got.Total() != 1 || got.Sum != c.took {
			t.Errorf("%v: %+v, want it in bucket %d", c.took, got, c.bucket)
		}
		if c.bucket < Buckets-1 && (c.took >= Upper(c.bucket) || c.bucket > 0 && c.took < Upper(c.bucket-1)) {
			t.Errorf("%v lies outside the limits of bucket %d", c.took, c.bucket)
		}
	}
}

func TestQuantile(t *testing.T) {
	var h Histogram
	if q := h.Counts().Quantile(.5); q != 0 {
		t.Errorf("nothing counted, and half are below %v", q)
	}
	for range 98 {
		h.Observe(3 * time.Microsecond)
	}
	h.Observe(time.Millisecond)
	h.Observe(time.Hour)
	for q, want := range map[float64]time.Duration{.5: Upper(2), .98: Upper(2), .99: Upper(10), 1: Upper(Buckets - 1)} {
		if got := h.Counts().Quantile(q); got != want {
			t.Errorf("quantile %g: %v, want %v", q, got, want)
		}
	}
}
