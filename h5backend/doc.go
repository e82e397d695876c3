// Package h5backend reads samples out of HDF5 files.
//
// A field is one HDF5 dataset, or the same dataset of several files joined along axis 0; a
// sample is row i of a field. A part is what one file holds of one field.
//
// Metadata come from libhdf5, through gonum.org/v1/hdf5 and the few calls in libhdf5.c that it
// lacks. Bytes come from the file itself, outside libhdf5's global lock, in one of three ways:
//
//   - direct: a sample's bytes stand in one piece in the file (contiguous datasets, chunks
//     without filters). Neighbours are read by one preadv straight into their destinations.
//   - decode: a chunk is found by its address in the chunk index, which this package walks
//     itself, read whole and decoded (gzip, shuffle, fletcher32) in parallel. Neighbours are
//     read together.
//   - h5dread: all else that libhdf5 can read goes through it, one read at a time.
//
// What lies between two neighbours is read over where that takes less time than another request. Up to which gap,
// and how many reads are best under way at once, a Reader learns from its own reads (storage.Tuner).
//
// At Open some chunks of every part are compared with what libhdf5 reads; where they differ,
// the part is read by libhdf5. Values are handed on in the machine's own byte order.
//
// It needs the C libraries HDF5 and libdeflate. This is the only package that uses cgo.
package h5backend
