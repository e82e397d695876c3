package h5backend

import (
	"slices"
	"sort"
	"unsafe"
)

// Field is one dataset, the same in every file of a Set.
type Field struct {
	Path  string // of the dataset, without leading slash
	Name  string // unique in the Set, without '/'
	DType string // numpy's, in native byte order: "<f4", "|u1"
	Shape []int  // of one sample; empty: a number
	Bytes int    // of one sample
}

// FileInfo is what a plan stores to recognise a file.
type FileInfo struct {
	Path    string `json:"path"` // absolute
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time"` // UnixNano
	Samples int    `json:"samples"`
}

// Set is the samples of all files. All methods but Close may run at once; it is immutable but for its counters.
type Set struct {
	fields []Field
	left   []LeftOut
	files  []*fileParts
	first  []int // files[i] begins with this sample
	total  int
	stats  counters

	scratch scratchBytes // of its Readers
}

// fileParts is one file with its part of every field, in the order of fields.
type fileParts struct {
	src   *sourceFile
	parts []*part
	rows  int
	lib   *libFile // nil: no part reads by libhdf5
}

// Fields gives the fields in the order in which a Request counts them.
func (s *Set) Fields() []Field { return slices.Clone(s.fields) }

// LeftOut lists the first file's datasets that the default rule did not take; none where fields were named.
func (s *Set) LeftOut() []LeftOut { return slices.Clone(s.left) }

// Samples is how many samples all files have together.
func (s *Set) Samples() int { return s.total }

// Files describes the files in the order in which they are joined.
func (s *Set) Files() []FileInfo {
	out := make([]FileInfo, len(s.files))
	for i, f := range s.files {
		out[i] = FileInfo{f.src.path, f.src.seen.size, f.src.seen.mtime, f.rows}
	}
	return out
}

// ChunkSamples gives per field how many samples one storage chunk holds, the most over all files; 1 without chunks.
func (s *Set) ChunkSamples() []int {
	out := make([]int, len(s.fields))
	for i := range out {
		out[i] = 1
		for _, f := range s.files {
			out[i] = max(out[i], min(f.parts[i].chunkRows, f.rows))
		}
	}
	return out
}

// WholeChunkSamples gives per field how many samples come with each one that is read, the most over all files: those of
// a chunk where chunks are decoded whole, else 1.
func (s *Set) WholeChunkSamples() []int {
	out := make([]int, len(s.fields))
	for i := range out {
		out[i] = 1
		for _, f := range s.files {
			if p := f.parts[i]; p.way != wayDirect {
				out[i] = max(out[i], min(p.chunkRows, f.rows))
			}
		}
	}
	return out
}

// ScratchBytes is the most memory that a Reader of this depth, or Readers of so much together, hold besides the destinations, with libhdf5's
// chunk caches, which all Readers share. It does not depend on the machine.
func (s *Set) ScratchBytes(depth int) int64 {
	return int64(max(depth, 1))*s.scratch.read + s.scratch.caches
}

// scratchBytes is what one read and all of libhdf5's caches take.
type scratchBytes struct{ read, caches int64 }

func (s *Set) scratchBytes() (b scratchBytes) {
	for _, f := range s.files {
		b.read = max(b.read, f.readBytes())
		for _, p := range f.parts {
			if p.lib != nil {
				b.caches += int64(p.lib.cache)
			}
		}
	}
	return b
}

// readBytes is the scratch of one read of the file: junk, the stored chunks of a run, or the largest one, and one decoded.
func (f *fileParts) readBytes() int64 {
	var all, largest, junk int64
	for _, p := range f.parts {
		if p.way != wayLib {
			junk = junkBytes
		}
		if p.way == wayDecode {
			for _, c := range p.chunks {
				all += int64(c.size)
				largest = max(largest, int64(c.size))
			}
		}
	}
	return junk + max(min(all, f.src.decodeRun), largest) + f.decodedBytes()
}

// decodedBytes is the most that a chunk of the file has on the way of decoding.
func (f *fileParts) decodedBytes() (n int64) {
	for _, p := range f.parts {
		if p.way == wayDecode {
			n = max(n, int64(p.pipe.size)+4)
		}
	}
	return n
}

// IndexBytes is the memory of all chunk addresses, for as long as the Set is open.
func (s *Set) IndexBytes() int64 {
	var n int64
	for _, f := range s.files {
		for _, p := range f.parts {
			n += int64(len(p.chunks)) * int64(unsafe.Sizeof(chunkRef{}))
		}
	}
	return n
}

// find says which file holds a sample, and in which row.
func (s *Set) find(sample uint32) (file, row int) {
	file = sort.Search(len(s.first), func(i int) bool { return s.first[i] > int(sample) }) - 1
	return file, int(sample) - s.first[file]
}

// Close closes all files. Reads that run meanwhile end, or fail with os.ErrClosed.
func (s *Set) Close() error {
	for _, f := range s.files {
		f.close()
	}
	return nil
}

func (f *fileParts) close() {
	if f.lib != nil {
		_ = inLib(func() error {
			for _, p := range f.parts {
				if p.lib != nil {
					p.lib.close()
				}
			}
			return f.lib.Close()
		})
	}
	f.src.file.Close()
}
