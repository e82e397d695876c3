// Package planner computes what every rank reads in every step, which of it comes from storage, and what each
// node's buffer keeps. It is pure: no I/O, no clock, no goroutine; a plan is a function of its Spec, so every
// node computes the same one by itself, one epoch ahead.
//
// # Words
//
// A sample is one training example. A rank is one training process; a node is one machine with one buffer
// that its ranks share; global rank = node*RanksPerNode + local rank. A step is the t-th optimiser step of an epoch, which all ranks take
// together. The global batch is the samples of one step over all ranks, in the order of torch's sampler; a
// position is a place in the epoch's whole order. A load is a sample read from storage, a hit one that is in the node's buffer.
//
// # What is kept of torch's order
//
// Epoch e is torch's DistributedSampler(dataset, num_replicas=ranks, seed=Seed, drop_last=DropLast) after set_epoch(e). Every global
// batch holds the samples that torch's holds at that step; only who processes which sample of it differs, and
// on a single node not even that. The samples of a node stand in the order of the global batch, the i-th going to local rank i
// mod RanksPerNode.
//
// # Padding
//
// Without DropLast torch repeats up to ranks-1 samples at the end of an epoch. They all fall into the last step. The first
// use of a sample in an epoch is the regular one; a repeat is always a load and is never kept.
//
// # Loads, and the bound
//
// A sample is used once per epoch, so every hit of an epoch was in a buffer when the epoch began, and there are at most B = min(N,
// Nodes*BufferSamples) of them. With n_e the distinct samples that epoch e uses and new_e those of them that no earlier epoch used, epoch e
// needs at least max(n_e-B, new_e) loads, repeats not counted. Without DropLast that is N for the first epoch and N-B for each other.
//
// What lies beyond it is EpochStats.Forced = Loads - Padded - Bound. Its cause without DropLast is one only: a node can have no more hits
// in a step than it has slots there, so it leaves out samples whose next step is full, though it has room
// (EpochStats.LeftOut). Each sample left out costs at most one load in a later epoch:
//
//   - Without DropLast the Forced of an epoch is at most the LeftOut of all epochs before it. So it is 0 as long as nothing is left out.
//   - On one node without DropLast nothing is left out: the bound is met, which is also what Belady's MIN gives.
//   - With several nodes samples are left out as the buffers near the whole set, the more the fewer slots a node has.
//     At a million samples on 16 nodes of 64 slots Forced is 0 to 0.9 of the set in buffers, 0.2 % of the set per epoch at 0.95, 4 % at 1.
//     A buffer larger than a node's share of the set helps no further: a node keeps only what it processes, an equal share.
//   - With DropLast a buffer place can also stay empty, or be held by a sample that waits more than an epoch, for want of one that the
//     next epoch uses. That costs a few loads even on one node: under 0.1 % beyond Belady's MIN over random specs.
//
// All of this is tested on random specs.
package planner
