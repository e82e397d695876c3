package h5backend

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// errIndex: this package cannot walk the index, libhdf5 perhaps can.
var errIndex = errors.New("chunk index of a kind that only libhdf5 reads")

// metaFile reads a file's metadata. Nothing in the file is trusted: no read or allocation
// goes beyond size.
type metaFile struct {
	r    io.ReaderAt
	size uint64
	base uint64 // user block; addresses count from its end
}

// absolute is the offset in the file of n bytes at an address.
func (m metaFile) absolute(address, n uint64) (uint64, error) {
	off := address + m.base
	if address == undefined || off < address || n > m.size || off > m.size-n {
		return 0, fmt.Errorf("address %d: outside of the file", address)
	}
	return off, nil
}

func (m metaFile) at(address, n uint64) (block, error) {
	off, err := m.absolute(address, n)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	if k, err := m.r.ReadAt(b, int64(off)); k < len(b) {
		return nil, err
	}
	return b, nil
}

// block is metadata; its getters give zero beyond its end, and callers check lengths where zero would mislead.
type block []byte

func (b block) has(off, n int) bool { return off >= 0 && n >= 0 && off <= len(b)-n }

// uint is the little-endian number of n bytes at off.
func (b block) uint(off, n int) (v uint64) {
	if n > 8 || !b.has(off, n) {
		return 0
	}
	for i := range n {
		v |= uint64(b[off+i]) << (8 * i)
	}
	return v
}

func (b block) u16(off int) int    { return int(b.uint(off, 2)) }
func (b block) u64(off int) uint64 { return b.uint(off, 8) }

func (b block) signed(mark string) bool {
	return len(b) >= len(mark) && string(b[:len(mark)]) == mark
}

// message finds the first message of a kind in an object header, version 1 or 2
// (HDF5 File Format Specification 3.0, IV.A.1). It follows continuation blocks.
func (m metaFile) message(header uint64, kind int) (block, error) {
	h, err := m.at(header, min(64, m.size))
	if err != nil {
		return nil, err
	}
	type extent struct{ at, n uint64 }
	var todo []extent
	head := 8 // bytes before each message
	v2 := h.signed("OHDR")
	switch {
	case v2 && h.has(0, 34):
		at, n := headerV2(h)
		todo, head = append(todo, extent{header + at, n}), 4
		if h[5]&4 != 0 {
			head = 6
		}
	case h.has(0, 16) && h[0] == 1:
		todo = append(todo, extent{header + 16, h.uint(8, 4)})
	default:
		return nil, errIndex
	}
	for k, left := 0, uint64(maxHeader); k < len(todo); k++ {
		if todo[k].n > left {
			return nil, errIndex
		}
		left -= max(todo[k].n, 1)
		b, err := m.at(todo[k].at, todo[k].n)
		if err != nil {
			return nil, err
		}
		for b.has(0, head) {
			typ, n := b.u16(0), b.u16(2)
			if v2 {
				typ, n = int(b[0]), b.u16(1)
			}
			if !b.has(head, n) {
				break
			}
			body := b[head : head+n]
			b = b[head+n:]
			switch {
			case typ == kind:
				return body, nil
			case typ != messageContinue || !body.has(0, 16):
			case v2: // "OCHK" before, a checksum after
				if n := body.u64(8); n >= 8 {
					todo = append(todo, extent{body.u64(0) + 4, n - 8})
				}
			default:
				todo = append(todo, extent{body.u64(0), body.u64(8)})
			}
		}
	}
	return nil, errors.New("object header has no layout message")
}

const (
	messageLayout   = 0x08
	messageContinue = 0x10
	maxHeader       = 4 << 20 // bytes of one object header; real ones have some kilobytes
)

// headerV2 says where the first messages of a version 2 header begin, and how many bytes they have.
func headerV2(h block) (at, n uint64) {
	flags := h[5]
	at = 6
	if flags&0x20 != 0 { // times
		at += 16
	}
	if flags&0x10 != 0 { // attribute thresholds
		at += 4
	}
	width := 1 << (flags & 3)
	return at + uint64(width), binary.LittleEndian.Uint64(append(h[at:int(at)+width:int(at)+width], make([]byte, 8)...))
}
