package planner

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
)

// digestOf hashes a whole epoch. The encoding, all numbers little-endian:
//
//	"solarfs epoch 2\n"
//	uint64: epoch index, nodes, ranks per node, batch size, positions, starts, drops, riders
//	uint32 per position: sample, by step, rank, row
//	uint8 per position: fate, in the same order
//	uint64 per start: where the samples of a step and node begin, if batches are uneven
//	per drop, by step and node: uint64 step*nodes+node, uint32 sample
//	per rider: the same
func digestOf(e *Epoch) (sum [32]byte) {
	h := sha256.New()
	buf := append(make([]byte, 0, 1<<14), "solarfs epoch 2\n"...)
	for _, n := range []int{e.Index, e.spec.Nodes, e.spec.RanksPerNode, e.spec.BatchSize, len(e.samples), len(e.starts), e.drops.len(), e.riders.len()} {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
	}
	h.Write(buf)
	buf = buf[:cap(buf)]
	for part := range slices.Chunk(e.samples, len(buf)/4) {
		for i, sample := range part {
			binary.LittleEndian.PutUint32(buf[4*i:], sample)
		}
		h.Write(buf[:4*len(part)])
	}
	for part := range slices.Chunk(e.fates, len(buf)) {
		for i, fate := range part {
			buf[i] = byte(fate)
		}
		h.Write(buf[:len(part)])
	}
	buf = buf[:0]
	for _, start := range e.starts {
		buf = flush(h, binary.LittleEndian.AppendUint64(buf, uint64(start)))
	}
	for _, moved := range []lists{e.drops, e.riders} {
		for key, sample := range moved.all() {
			buf = binary.LittleEndian.AppendUint64(buf, key)
			buf = flush(h, binary.LittleEndian.AppendUint32(buf, sample))
		}
	}
	h.Write(buf)
	h.Sum(sum[:0])
	return sum
}

// flush hashes buf when it is nearly full.
func flush(h hash.Hash, buf []byte) []byte {
	if len(buf) < cap(buf)-16 {
		return buf
	}
	h.Write(buf)
	return buf[:0]
}

// DigestOf is the digest of a whole plan: the SHA-256 of its epochs' digests, one after the other, all in hex.
func DigestOf(epochs []string) (string, error) {
	h := sha256.New()
	for i, text := range epochs {
		sum, err := hex.DecodeString(text)
		if err != nil || len(sum) != sha256.Size {
			return "", fmt.Errorf("the digest %.80q of epoch %d is not %d bytes in hex", text, i, sha256.Size)
		}
		h.Write(sum)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
