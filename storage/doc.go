// Package storage predicts how long an epoch's reads take, divides memory by that, and finds from what reads took how they are best done
// (Tuner). It is pure: values in, values out.
//
// The words are the project's: a sample is one training example, a step is one global batch over all nodes, a load is a sample
// read from storage. The buffer holds a node's kept samples, the window its loads that are read ahead, and its batch files.
//
// # The data plane that is assumed
//
// Predictions hold for a data plane that sweeps over the file again and again, as an elevator does, and reads each load when it
// passes it for the last time before the load's step. It skips a gap between two loads, or reads over it where that costs
// less than a request. A load takes memory of the window from when it is read until its batch has been read.
//
// Let a sweep meet P loads, and let a clock V advance by P in a sweep, in proportion to the loads passed (a load's rank in
// file order among the epoch's loads tells how far), not to the bytes. Loads are counted in the order of their steps. At clock
// V all loads that the sweep passes are read up to number V, so all up to V-P are in memory and a reader can always go on. A load waits
// for its batch between 0 and P, P/2 in the mean: a window for w loads serves a sweep of P = 2w. A simulation (elevator_test.go)
// confirms it: memory in use is 0.9 to 1.0 times w in the mean; at its peak it is 1.0 to 1.1 times w for thousands of loads, up to 1.3 times
// for w of some hundred, so that a sweep waits now and then until the reader has gone on.
// A look-ahead that is counted from the reader instead ("the next P") is another thing: the reader then waits for most of the sweep and
// needs memory for all P loads at its end, so that a window for w loads serves a sweep of w only.
//
// An executor that takes whole batch files as soon as a step starts, or that does not read over gaps, profits less from the
// window than is predicted here.
package storage
