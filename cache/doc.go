// Package cache is the data plane of one node: it makes batch files ahead of
// their readers and keeps in memory exactly what the plan says will be needed.
//
// The words, as docs and code use them:
//
//	g         a global step number: epoch x steps-per-epoch + the step in the epoch
//	window    the steps whose batch files are being made or wait to be read
//	buffer    the samples kept between uses, in a slab of fixed slots
//	load, hit a sample read from storage, a sample found in the buffer
//	rider     a sample read for later, since its chunk is read for a load of the step
//	stray     a batch read out of the plan's order
//
// One goroutine plans steps and has their loads read, in sweeps over the file
// (lookahead.go, sweep.go): straight into the batch files of steps that have
// some, else into slots of the buffer where nobody finds them yet (slots.go). A
// second one takes memory files from the pool for one planned step after the
// other (files.go). A third commits steps in plan order (commit.go): it waits
// for a step's reads, copies hits and what was read into slots into the batch
// files, lets samples leave and enter the buffer as the plan says, and marks the
// files ready. Only the commit changes what is found in the buffer, so that is
// the plan's at any step, however much is being read at once.
//
// Strays never touch window or buffer contents: they are read sample by sample
// from the buffer, from ristretto, or from storage (stray.go).
package cache
