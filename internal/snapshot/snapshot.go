// Package snapshot writes who holds which sample compactly: what a plan needs to be resumed (planner.Resume).
package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
)

// wideFrom is the number of nodes from which an owner takes two bytes before compression.
const wideFrom = math.MaxUint8

// Encode compresses owners below nodes, or 65535 for nobody. Random owners take somewhat more than their entropy: 3.5 bits where 16 nodes hold half the set
// together; a checksum is in it.
func Encode(owners []uint16, nodes int) ([]byte, error) {
	var plain []byte
	if nodes < wideFrom {
		plain = make([]byte, len(owners))
		for i, k := range owners {
			plain[i] = byte(k) // nobody becomes 255
		}
	} else {
		plain = make([]byte, 0, 2*len(owners))
		for _, k := range owners {
			plain = binary.LittleEndian.AppendUint16(plain, k)
		}
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.EncodeAll(plain, nil), nil
}

// Decode returns the owners of that many samples, or an error if data are not what Encode made of them.
func Decode(data []byte, samples, nodes int) ([]uint16, error) {
	width := 1
	if nodes >= wideFrom {
		width = 2
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(width*samples+1<<20)))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	plain, err := r.DecodeAll(data, make([]byte, 0, width*samples))
	if err != nil {
		return nil, fmt.Errorf("decompress the owners of %d samples: %w", samples, err)
	}
	if len(plain) != width*samples {
		return nil, errors.New("the owners are of another number of samples")
	}
	owners := make([]uint16, samples)
	for i := range owners {
		switch {
		case width == 2:
			owners[i] = binary.LittleEndian.Uint16(plain[2*i:])
		case plain[i] == math.MaxUint8:
			owners[i] = math.MaxUint16
		default:
			owners[i] = uint16(plain[i])
		}
	}
	return owners, nil
}
