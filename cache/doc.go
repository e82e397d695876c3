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
// One goroutine starts steps in plan order (start.go): it takes memory files
// from the pool, lists what is a hit and what a load, and has the loads read
// straight into the batch files, and riders into slots of the buffer where nobody
// finds them yet (riders.go). A second goroutine commits steps in the same
// order (commit.go): it waits for a step's reads, copies hits from the buffer
// into the batch files, lets samples leave and enter the buffer as the plan
// says, and marks the files ready. Only the commit changes what is found in the
// buffer, so that is the plan's at any step, however many steps are being read at once.
//
// Strays never touch window or buffer contents: they are read sample by sample
// from the buffer, from ristretto, or from storage (stray.go).
package cache
