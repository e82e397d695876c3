package h5backend

import (
	"errors"
	"fmt"

	"gonum.org/v1/hdf5"
)

// way is how the bytes of a part are read.
type way int

const (
	wayDirect way = iota
	wayDecode
	wayLib
)

func (w way) String() string { return [...]string{"direct", "decode", "h5dread"}[w] }

// part is what one file holds of one field. Immutable after Open.
type part struct {
	file      *sourceFile
	path      string // of the dataset
	shape     []int  // of one sample
	rows      int
	bytes     int // of one sample
	elem      int // bytes of one value
	dtype     string
	swap      bool // stored values have the other byte order
	chunkRows int  // samples per chunk, 0: no chunks
	way       way
	why       string     // not direct
	index     string     // kind of the chunk index
	start     uint64     // wayDirect without chunks: where row 0 stands
	chunks    []chunkRef // own chunk addresses, by chunk along axis 0
	pipe      *pipeline  // of the chunks
	lib       *libPart   // wayLib
}

// newPart decides whether a dataset can be (a part of) a field. Its way is still wayLib.
func newPart(file *sourceFile, path string, in libInfo, fl fileLayout) (*part, error) {
	dtype, err := in.typ.numpy()
	switch {
	case in.fileno != fl.fileno:
		return nil, errors.New("stands in another file, behind an external link: give that file with --data")
	case in.space != spaceSimple || len(in.dims) == 0:
		return nil, errors.New("scalar or empty: a field needs an axis of samples")
	case err != nil:
		return nil, err
	case in.layout == layoutVirtual:
		return nil, errors.New("virtual dataset: give its source files with --data")
	case in.external:
		return nil, errors.New("its data stand in external raw files: copy it into the file, for example with h5repack")
	}
	if err := missingFilter(in.filters, filterFletcher); err != nil {
		return nil, err
	}
	p := &part{file: file, path: path, dtype: dtype, elem: int(in.typ.size), swap: in.typ.swapped(), way: wayLib}
	if in.dims[0] > MaxSamples {
		return nil, fmt.Errorf("%d samples: at most %d are possible", in.dims[0], uint64(MaxSamples))
	}
	p.rows = int(in.dims[0])
	size := in.typ.size
	for _, d := range in.dims[1:] {
		if d == 0 || size > maxSampleBytes/d {
			return nil, fmt.Errorf("shape %v: a sample has no bytes, or more than %d", in.dims, uint64(maxSampleBytes))
		}
		size *= d
		p.shape = append(p.shape, int(d))
	}
	p.bytes = int(size)
	if in.layout == layoutChunked {
		p.chunkRows = int(in.chunk[0])
	}
	return p, nil
}

// MaxSamples is how many samples a Set can have: a sample's number has 32 bits.
const MaxSamples = 1<<32 - 1

const maxSampleBytes = 1 << 40

// locate finds where the bytes stand, or why only libhdf5 can read them.
func (p *part) locate(in libInfo, fl fileLayout) error {
	switch in.layout {
	case layoutContiguous:
		return p.locateContiguous(in)
	case layoutChunked:
		return p.locateChunks(in, fl)
	case layoutCompact: // at most 64 KiB
		return errors.New("compact layout")
	}
	return errors.New("unknown layout")
}

func (p *part) locateContiguous(in libInfo) error {
	need, size := uint64(p.rows)*uint64(p.bytes), uint64(p.file.seen.size)
	switch {
	case in.offset == undefined:
		return errors.New("never written: fill values")
	case in.storage != need || need > size || in.offset > size-need:
		return errors.New("the stored size is not that of all samples")
	}
	p.start, p.way = in.offset, wayDirect
	return nil
}

func (p *part) locateChunks(in libInfo, fl fileLayout) error {
	dims := append(append([]uint64{}, in.chunk...), in.typ.size)
	for i, d := range in.dims {
		if i > 0 && in.chunk[i] != d {
			return errors.New("chunks cut samples")
		}
	}
	size := chunkBytes(dims)
	if !fl.wide || size == undefined {
		return errIndex
	}
	pipe, err := newPipeline(in.filters, int(size), p.elem)
	if err != nil {
		return err
	}
	p.pipe = pipe
	meta := metaFile{p.file.file, uint64(p.file.seen.size), fl.userBlock}
	p.index, p.chunks, err = meta.chunks(in.header, uint64(p.rows), dims, pipe.maxStored())
	if err != nil {
		return err
	}
	if last := len(p.chunks) - 1; in.rawEdge && p.rows%p.chunkRows != 0 {
		p.chunks[last].mask = ^uint32(0)
	}
	if err := p.checkSizes(in.storage); err != nil {
		return err
	}
	p.way = wayDirect
	if !p.allRaw() {
		p.way = wayDecode
	}
	return nil
}

// checkSizes compares the chunks' sizes with each other and, in sum, with what libhdf5 found in the whole index,
// whose checksums it verifies on the way.
func (p *part) checkSizes(storage uint64) error {
	var sum uint64
	for i, c := range p.chunks {
		sum += uint64(c.size)
		if p.pipe.raw(c.mask) && int(c.size) != p.pipe.size {
			return fmt.Errorf("chunk %d has %d bytes, not %d", i, c.size, p.pipe.size)
		}
	}
	if sum != storage {
		return fmt.Errorf("the chunks have %d bytes, libhdf5 counts %d", sum, storage)
	}
	return nil
}

func (p *part) allRaw() bool {
	for _, c := range p.chunks {
		if !p.pipe.raw(c.mask) {
			return false
		}
	}
	return true
}

// missingFilter is about the first filter with an id above own that libhdf5 needs and does not have.
func missingFilter(filters []filter, own int) error {
	for _, f := range filters {
		if f.id > own && !f.available {
			return fmt.Errorf("needs HDF5 filter %d (%s), which is not installed: install its plugin and set HDF5_PLUGIN_PATH to its directory", f.id, f.name)
		}
	}
	return nil
}

// prepare chooses the way for a part whose dataset is open, checks it on some rows, and says in why what kept it
// from a faster one.
func (p *part) prepare(ds *hdf5.Dataset, in libInfo, fl fileLayout, checks int) error {
	if p.rows == 0 {
		p.way, p.why = wayDirect, "no samples"
		return nil
	}
	err := p.locate(in, fl)
	if err == nil {
		err = p.selfCheck(ds, checks)
	}
	if err == nil && p.way == wayDirect {
		return nil
	}
	if err == nil {
		p.why = "chunks are filtered"
		return nil
	}
	p.way, p.why, p.chunks = wayLib, err.Error(), nil
	return missingFilter(in.filters, 0)
}
