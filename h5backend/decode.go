package h5backend

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Filter ids of the HDF5 library.
const (
	filterDeflate  = 1
	filterShuffle  = 2
	filterFletcher = 3
)

// filter is one step of a dataset's filter pipeline, in the order of writing.
type filter struct {
	id        int
	name      string
	available bool   // in this libhdf5, or as its plugin
	value     uint32 // the filter's first parameter
}

func (f filter) String() string {
	switch f.id {
	case filterDeflate:
		return fmt.Sprintf("gzip-%d", f.value)
	case filterShuffle:
		return "shuffle"
	case filterFletcher:
		return "fletcher32"
	}
	if f.name == "" {
		return fmt.Sprintf("filter %d", f.id)
	}
	return fmt.Sprintf("%s (filter %d)", strings.TrimSpace(f.name), f.id)
}

// pipeline decodes the chunks of one dataset. Immutable.
type pipeline struct {
	filters []filter
	size    int // of a decoded chunk
}

// newPipeline gives the pipeline for chunks of size bytes with values of elem bytes, or why it has none:
// each of gzip, shuffle and fletcher32 may stand there once, shuffle first.
func newPipeline(filters []filter, size, elem int) (*pipeline, error) {
	var seen [filterFletcher + 1]bool
	for i, f := range filters {
		if f.id < filterDeflate || f.id > filterFletcher {
			return nil, fmt.Errorf("only libhdf5 decodes %v", f)
		}
		if seen[f.id] || f.id == filterShuffle && (i != 0 || int(f.value) != elem) {
			return nil, errors.New("unusual order of filters")
		}
		seen[f.id] = true
	}
	return &pipeline{filters, size}, nil
}

// maxStored is more than any valid stored chunk has: zlib and checksums add little to bytes that do not compress.
func (p *pipeline) maxStored() uint64 {
	return uint64(p.size) + uint64(p.size)/64 + 1024
}

// raw tells whether a chunk with this filter mask is stored as it is.
func (p *pipeline) raw(mask uint32) bool {
	for i := range p.filters {
		if mask&(1<<i) == 0 {
			return false
		}
	}
	return true
}

// shuffled tells whether a chunk with this mask is still shuffled when decode has decoded it.
func (p *pipeline) shuffled(mask uint32) bool {
	return len(p.filters) > 0 && p.filters[0].id == filterShuffle && mask&1 == 0
}

// decode undoes all filters but shuffle. The result is p.size bytes long; it lies in stored, in d, or in dst, if that has the
// length that gzip data inflate to. dst may be nil.
func (p *pipeline) decode(d *decoder, dst, stored []byte, mask uint32) (data []byte, err error) {
	data = stored
	for i := len(p.filters) - 1; i >= 0 && err == nil; i-- {
		if mask&(1<<i) != 0 {
			continue
		}
		switch p.filters[i].id {
		case filterFletcher:
			data, err = verifyFletcher(data)
		case filterDeflate:
			out := dst
			if n := p.size + p.checksums(i, mask); len(out) != n {
				out = d.decodedBytes(n)
			}
			err = d.inflater().inflate(out, data)
			data = out
		}
	}
	if err == nil && len(data) != p.size {
		err = fmt.Errorf("chunk has %d bytes after decoding, not %d", len(data), p.size)
	}
	return data, err
}

// checksums counts the bytes that filters before the i-th have added.
func (p *pipeline) checksums(i int, mask uint32) (n int) {
	for j, f := range p.filters[:i] {
		if f.id == filterFletcher && mask&(1<<j) == 0 {
			n += 4
		}
	}
	return n
}

// verifyFletcher cuts the checksum off data and compares it.
func verifyFletcher(data []byte) ([]byte, error) {
	if len(data) < 4 {
		return nil, errors.New("chunk is too short for its fletcher32 checksum")
	}
	body, stored := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	sum := fletcher32(body)
	// Before 1.6.3, libhdf5 swapped the bytes of each half on little-endian machines, and accepts both since.
	old := sum&0x00ff00ff<<8 | sum>>8&0x00ff00ff
	if stored != sum && stored != old {
		return nil, errors.New("chunk differs from its fletcher32 checksum")
	}
	return body, nil
}
