package cache

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"solarfs/h5backend"
)

// buffer keeps samples between their uses: a slab of equal slots outside the
// Go heap, one sample with all its fields in a slot.
//
// mu guards the slot table and the bytes of the samples in it. Only the commit
// changes them; strays read. Invariant: a slot is in slots once, or in free once,
// or taken by a load whose step is not committed, whose bytes are the pipeline's.
type buffer struct {
	slotBytes int
	fieldAt   []int // where a field begins inside a slot; and the slot's end
	all       int   // slots
	mu        struct {
		sync.RWMutex
		slab  []byte
		slots map[uint32]uint32
		free  []uint32
	}
}

// newBuffer makes a buffer of samples slots, and ahead more for what is read ahead.
func newBuffer(samples, ahead int, fields []h5backend.Field) (*buffer, error) {
	b := &buffer{fieldAt: []int{0}, all: samples + ahead}
	for _, f := range fields {
		b.slotBytes += f.Bytes
		b.fieldAt = append(b.fieldAt, b.slotBytes)
	}
	b.mu.slots = make(map[uint32]uint32, samples)
	b.keepOnly(nil)
	if b.all == 0 {
		return b, nil
	}
	slab, err := unix.Mmap(-1, 0, b.all*b.slotBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes for the buffer (make --buffer smaller): %w", b.all*b.slotBytes, err)
	}
	b.mu.slab = slab
	return b, nil
}

// copyOut copies bytes [from, from+len(dst)) of a sample's field and reports
// whether the sample is in the buffer.
func (b *buffer) copyOut(dst []byte, sample uint32, field, from int) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	slot, ok := b.mu.slots[sample]
	if ok {
		copy(dst, b.mu.slab[b.at(slot, field)+from:])
	}
	return ok
}

// at is where a field begins in the slab.
func (b *buffer) at(slot uint32, field int) int { return int(slot)*b.slotBytes + b.fieldAt[field] }

// enter keeps a sample: parts holds the bytes of each field. It reports false
// if there is no free slot, which a correct plan never meets.
func (b *buffer) enter(sample uint32, parts [][]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.mu.slots[sample]; ok {
		return true
	}
	if len(b.mu.free) == 0 {
		return false
	}
	slot := b.takeLocked()
	for field, part := range parts {
		copy(b.mu.slab[b.at(slot, field):], part)
	}
	b.mu.slots[sample] = slot
	return true
}

func (b *buffer) takeLocked() uint32 {
	slot := b.mu.free[len(b.mu.free)-1]
	b.mu.free = b.mu.free[:len(b.mu.free)-1]
	return slot
}

// take takes a free slot, which must exist, for what is read ahead.
func (b *buffer) take() uint32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.takeLocked()
}

// part is where the bytes of a field stand in a slot that was taken.
func (b *buffer) part(slot uint32, field int) []byte {
	at := int(slot) * b.slotBytes
	return b.mu.slab[at+b.fieldAt[field] : at+b.fieldAt[field+1]]
}

// admit keeps a sample whose slot was taken and filled. It reports false if the buffer has the sample.
func (b *buffer) admit(sample, slot uint32) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.mu.slots[sample]; ok {
		return false
	}
	b.mu.slots[sample] = slot
	return true
}

// giveBack frees a slot that was taken.
func (b *buffer) giveBack(slot uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.free = append(b.mu.free, slot)
}

// leave frees a sample's slot, if it has one.
func (b *buffer) leave(sample uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slot, ok := b.mu.slots[sample]; ok {
		delete(b.mu.slots, sample)
		b.mu.free = append(b.mu.free, slot)
	}
}

// keepOnly lets every sample leave that keep refuses, and frees the slots of
// what was read ahead. Nothing may be being read.
func (b *buffer) keepOnly(keep func(sample uint32) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	used := make([]bool, b.all)
	for sample, slot := range b.mu.slots {
		if used[slot] = keep(sample); !used[slot] {
			delete(b.mu.slots, sample)
		}
	}
	b.mu.free = b.mu.free[:0]
	for slot := b.all - 1; slot >= 0; slot-- {
		if !used[slot] {
			b.mu.free = append(b.mu.free, uint32(slot))
		}
	}
}

// samples calls each for every sample in the buffer.
func (b *buffer) samples(each func(sample uint32)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for sample := range b.mu.slots {
		each(sample)
	}
}

// heldBytes is the memory of the samples in the buffer.
func (b *buffer) heldBytes() int64 {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return int64(len(b.mu.slots)) * int64(b.slotBytes)
}

func (b *buffer) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.slab == nil {
		return nil
	}
	clear(b.mu.slots)
	b.mu.free = nil
	err := unix.Munmap(b.mu.slab)
	b.mu.slab = nil
	return err
}
