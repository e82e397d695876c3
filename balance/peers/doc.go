// Package peers holds the policies of other systems, so that plans can be compared under the same rules: each deals the same global
// batches, step by step, as package balance does, and answers with a balance.Dealt. It is pure.
//
// None, LRU, Belady, Pinned and NoPFS leave each sample to the rank that torch gives it to; Locality and Solar let the node process it
// that holds it. Only Locality and NoPFS read other nodes' memory (balance.Remote).
//
// What all of them share: batches are made from what the buffers held when the step began; a repeat (a position from regular on) is a load
// that is not kept; in the last epoch nothing is kept. Each must be told one epoch ahead at least, which is how it knows the last. Steps
// begin at 0 with every Begin, and what Step returns is valid until the next. None is safe for concurrent use.
package peers
