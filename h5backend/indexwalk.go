package h5backend

import (
	"errors"
	"fmt"
)

// btree walks a version 1 B-tree of chunks (HDF5 File Format Specification 3.0, III.A.1). level is what the
// node must have, -1 at the root.
func (w *walk) btree(address uint64, level int) error {
	// Each node has at least one chunk below it that no other has, and the levels are few: more nodes mean a cycle.
	if w.nodes++; w.nodes > 2*uint64(len(w.refs))+256 {
		return errors.New("index has more B-tree nodes than chunks")
	}
	h, err := w.at(address, 24)
	if err != nil {
		return err
	}
	if !h.signed("TREE") || h[4] != 1 || level >= 0 && int(h[5]) != level {
		return fmt.Errorf("address %d: not the B-tree node that should be here", address)
	}
	level = int(h[5])
	n, key := h.u16(6), 8+8*len(w.x.dims)
	b, err := w.at(address+24, uint64(n*(key+8)))
	if err != nil {
		return err
	}
	for ; len(b) > 0 && err == nil; b = b[key+8:] {
		child := b.u64(key)
		if level > 0 {
			err = w.btree(child, level-1)
		} else {
			err = w.leaf(b, child)
		}
	}
	return err
}

func (w *walk) leaf(key block, address uint64) error {
	first := key.u64(8)
	for j := 1; j < len(w.x.dims); j++ {
		if key.u64(8+8*j) != 0 {
			return errors.New("chunk cuts samples")
		}
	}
	if first%w.x.dims[0] != 0 {
		return errors.New("chunk begins inside another")
	}
	return w.add(first/w.x.dims[0], address, key.uint(0, 4), uint32(key.uint(4, 4)))
}

// fixedArray walks a fixed array (HDF5 File Format Specification 3.0, VII.C). Checksums are left to libhdf5,
// which reads the whole index when it is asked for the storage size.
func (w *walk) fixedArray() error {
	h, err := w.at(w.x.address, 28)
	if err != nil {
		return err
	}
	a := fixed{filtered: h[5] == 1, entry: uint64(h[6]), n: h.u64(8), data: h.u64(16)}
	minimum := uint64(8)
	if a.filtered {
		minimum = 8 + 1 + 4
	}
	if !h.signed("FAHD") || a.entry < minimum || a.entry > 8+8+4 || a.n != uint64(len(w.refs)) || h[7] > 32 {
		return errIndex
	}
	if a.data == undefined {
		return nil
	}
	page := uint64(1) << h[7]
	if a.n <= page {
		return w.entries(a, 0, a.data+14, a.n)
	}
	return w.pages(a, page)
}

type fixed struct {
	filtered       bool
	entry, n, data uint64
}

// pages reads a paged data block: a bit for every page that exists, then the pages, each with a checksum.
func (w *walk) pages(a fixed, page uint64) error {
	count := (a.n + page - 1) / page
	bits, err := w.at(a.data+14, (count+7)/8)
	if err != nil {
		return err
	}
	at := a.data + 14 + uint64(len(bits)) + 4
	for k := range count {
		if bits[k/8]&(0x80>>(k%8)) != 0 {
			if err := w.entries(a, k*page, at, min(page, a.n-k*page)); err != nil {
				return err
			}
		}
		at += page*a.entry + 4
	}
	return nil
}

func (w *walk) entries(a fixed, first, address, n uint64) error {
	b, err := w.at(address, n*a.entry)
	if err != nil {
		return err
	}
	size, mask := w.size, uint32(0)
	for i := range n {
		e := b[i*a.entry:]
		if a.filtered {
			size, mask = e.uint(8, int(a.entry)-12), uint32(e.uint(int(a.entry)-4, 4))
		}
		if e.u64(0) == undefined {
			continue
		}
		if err := w.add(first+i, e.u64(0), size, mask); err != nil {
			return err
		}
	}
	return nil
}
