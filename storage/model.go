package storage

import (
	"fmt"
	"math"
)

// Model is what storage gives. A limit of 0 is none.
type Model struct {
	Latency        float64 // seconds until a request is answered
	Depth          int     // requests of one node that are under way at once; 0 counts as 1
	IOPS           float64 // requests a second that one node gets
	Bandwidth      float64 // bytes a second that one node gets
	StoreBandwidth float64 // bytes a second that all nodes get together
}

// Demand is what one node reads.
type Demand struct {
	Requests float64
	Bytes    float64
}

// Validate returns an error that says which figure cannot be.
func (m Model) Validate() error {
	for _, f := range []struct {
		name string
		val  float64
	}{{"latency", m.Latency}, {"depth", float64(m.Depth)}, {"IOPS", m.IOPS}, {"bandwidth", m.Bandwidth}, {"the store's bandwidth", m.StoreBandwidth}} {
		if !(f.val >= 0) || math.IsInf(f.val, 1) {
			return fmt.Errorf("%s of storage is %v; give a number that is not negative", f.name, f.val)
		}
	}
	return nil
}

// Rate is how many requests a second one node gets: the least of IOPS and Depth/Latency, +Inf without a limit.
func (m Model) Rate() float64 {
	return min(limit(m.IOPS), limit(float64(max(m.Depth, 1))/m.Latency))
}

// Seconds is how long all nodes take that read at once, each what nodes says of it:
//
//	max( max over nodes of max(requests/Rate, bytes/Bandwidth), bytes of all nodes/StoreBandwidth )
//
// Requests and bytes are limited independently, as a throttled block device limits them (Linux blk-throttle:
// read_iops_device beside read_bps_device). All nodes take part in each step, so the slowest decides.
func (m Model) Seconds(nodes ...Demand) float64 {
	var most, all Demand
	for _, d := range nodes {
		most.Requests, most.Bytes = max(most.Requests, d.Requests), max(most.Bytes, d.Bytes)
		all.Bytes += d.Bytes
	}
	return m.seconds(most, all.Bytes)
}

// seconds is the formula of Seconds: the largest requests and bytes of a node, and the bytes of all.
func (m Model) seconds(most Demand, allBytes float64) float64 {
	return max(most.Requests/m.Rate(), most.Bytes/limit(m.Bandwidth), allBytes/limit(m.StoreBandwidth))
}

// MaxGap bounds the gaps that are read over, in bytes.
const MaxGap = 1 << 20

// Gap is up to how many bytes between two reads take no longer than a request, at most MaxGap: Bandwidth/Rate, less what a read itself
// takes of that, where Rate is that of reads of so many bytes.
func (m Model) Gap(read int64) int64 {
	if rate := m.Rate(); !math.IsInf(rate, 1) {
		return int64(min(max(0, limit(m.Bandwidth)/rate-float64(read)), MaxGap))
	}
	return 0
}

// limit is x, where 0 means that there is none.
func limit(x float64) float64 {
	if x == 0 {
		return math.Inf(1)
	}
	return x
}
