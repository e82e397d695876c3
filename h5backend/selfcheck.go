package h5backend

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/hdf5"
)

// How many rows are compared per part. A fault is the same in all chunks, or nearly, so that many files on slow storage
// need not each be checked as thoroughly as the first.
const (
	thoroughChecks = 5
	quickChecks    = 1
	thoroughFiles  = 8
)

// selfCheck compares what this package reads with what libhdf5 reads: the stored bytes of some chunks, and some
// samples. Where libhdf5 cannot read either (a corrupt chunk), nothing is learnt. It must run inLib.
func (p *part) selfCheck(ds *hdf5.Dataset, checks int) error {
	for _, row := range pick(p.rows, checks) {
		if err := p.checkChunk(ds, row); err != nil {
			return err
		}
		if err := p.checkRow(ds, row); err != nil {
			return err
		}
	}
	return nil
}

// pick gives n rows: the last, the first and random ones; a single one is random.
func pick(rows, n int) (out []int) {
	if n > 1 {
		out = append(out, rows-1, 0)
	}
	for len(out) < n {
		out = append(out, rand.IntN(rows))
	}
	return out
}

func (p *part) checkChunk(ds *hdf5.Dataset, row int) error {
	if p.chunks == nil {
		return nil
	}
	k := row / p.chunkRows
	at := make([]uint64, 1+len(p.shape))
	at[0] = uint64(k * p.chunkRows)
	theirs, mask, err := rawChunk(ds, at, p.pipe.maxStored())
	if err != nil {
		return nil
	}
	ref := p.chunks[k]
	ours := make([]byte, ref.size)
	if err := p.readAt(ours, ref.off); err != nil {
		return nil
	}
	if !bytes.Equal(ours, theirs) || mask != ref.mask && !p.pipe.raw(ref.mask) {
		return fmt.Errorf("chunk %d is not where the index says", k)
	}
	return nil
}

func (p *part) checkRow(ds *hdf5.Dataset, row int) error {
	theirs := make([]byte, p.bytes)
	if readRows(ds, uint64(row), 1, p.bytes, theirs) != nil {
		return nil
	}
	ours := make([]byte, p.bytes)
	if err := p.readRow(row, ours); err != nil {
		return fmt.Errorf("row %d: %w, but libhdf5 reads it", row, err)
	}
	if !bytes.Equal(ours, theirs) {
		return fmt.Errorf("row %d differs from what libhdf5 reads", row)
	}
	return nil
}

// readRow reads one row without libhdf5.
func (p *part) readRow(row int, dst []byte) error {
	if off, ok := p.offset(row); ok {
		if err := p.readAt(dst, off); err != nil {
			return err
		}
		p.toNative(dst)
		return nil
	}
	c := p.chunks[row/p.chunkRows]
	bytes := make([]byte, c.size)
	if err := p.readAt(bytes, c.off); err != nil {
		return err
	}
	return p.decode(&decoder{}, stored{[]piece{{part: p, row: row, req: &Request{Dst: dst}}}, bytes})
}

func (p *part) readAt(dst []byte, off uint64) error {
	return readFull(p.file.data, [][]byte{dst}, int64(off))
}
