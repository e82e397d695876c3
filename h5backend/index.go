package h5backend

import (
	"errors"
	"fmt"
	"slices"
)

// chunkRef says where one chunk is stored. off 0: it is not (a file begins with its superblock).
type chunkRef struct {
	off        uint64 // in the file, user block included
	size, mask uint32 // stored bytes; bit i set: filter i was left out
}

// chunkIndex is what the layout message of a dataset says about its chunks.
type chunkIndex struct {
	kind       string
	btree      bool
	number     byte     // of the layout message, version 4
	dims       []uint64 // of a chunk; the last is the size of one value
	address    uint64
	singleSize uint64
	singleMask uint32
	filtered   bool // singleSize and singleMask hold
}

// chunks lists the chunks along axis 0 of a dataset whose chunks span whole samples: chunk i holds the
// rows from i*dims[0]. header is the object header's address, dims are a chunk's and, last, the size of
// one value. Every chunk is there and within the file, or it is an error: then libhdf5 must read.
func (m metaFile) chunks(header, rows uint64, dims []uint64, maxStored uint64) (kind string, refs []chunkRef, err error) {
	body, err := m.message(header, messageLayout)
	if err != nil {
		return "", nil, err
	}
	x, err := parseLayout(body)
	if err != nil {
		return "", nil, err
	}
	if !slices.Equal(x.dims, dims) || dims[0] == 0 || x.address == undefined {
		return x.kind, nil, errors.New("no chunks are stored")
	}
	n := (rows + dims[0] - 1) / dims[0]
	if n > m.size/8 { // most indexes hold 8 bytes and more per chunk; no allocation beyond that
		return x.kind, nil, errors.New("some chunks are not stored")
	}
	w := &walk{metaFile: m, x: x, refs: make([]chunkRef, n), maxStored: maxStored, size: chunkBytes(dims)}
	if err := w.run(); err != nil {
		return x.kind, nil, err
	}
	if w.found != n {
		return x.kind, nil, errors.New("some chunks are not stored")
	}
	return x.kind, w.refs, nil
}

// chunkBytes is the product of dims, or all ones where it does not fit in 32 bits, HDF5's limit.
func chunkBytes(dims []uint64) uint64 {
	n := uint64(1)
	for _, d := range dims {
		if d == 0 || d > 1<<32/n {
			return undefined
		}
		n *= d
	}
	return n
}

// walk gathers the chunks of one index.
type walk struct {
	metaFile
	x         chunkIndex
	refs      []chunkRef
	found     uint64 // refs that are set
	nodes     uint64 // B-tree nodes visited
	size      uint64 // of a chunk without filters
	maxStored uint64
}

func (w *walk) run() error {
	if w.size == undefined {
		return errIndex
	}
	switch {
	case w.x.btree:
		return w.btree(w.x.address, -1)
	case w.x.number == indexSingle && w.x.filtered:
		return w.add(0, w.x.address, w.x.singleSize, w.x.singleMask)
	case w.x.number == indexSingle:
		return w.add(0, w.x.address, w.size, 0)
	case w.x.number == indexImplicit:
		return w.implicit()
	case w.x.number == indexFixed:
		return w.fixedArray()
	}
	return errIndex
}

func (w *walk) add(i, address, size uint64, mask uint32) error {
	if i >= uint64(len(w.refs)) || w.refs[i].off != 0 {
		return fmt.Errorf("chunk %d stands twice in the index, or beyond the end", i)
	}
	if size == 0 || size > w.maxStored || size > 1<<32-1 {
		return fmt.Errorf("chunk %d: size %d is not possible", i, size)
	}
	off, err := w.absolute(address, size)
	if err != nil {
		return err
	}
	if off == 0 {
		return fmt.Errorf("chunk %d: address 0", i)
	}
	w.refs[i] = chunkRef{off, uint32(size), mask}
	w.found++
	return nil
}

func (w *walk) implicit() error {
	for i := range uint64(len(w.refs)) {
		if err := w.add(i, w.x.address+i*w.size, w.size, 0); err != nil {
			return err
		}
	}
	return nil
}
