// Package balance decides, for one global batch at a time, which node processes each sample and which
// samples each node keeps in its buffer. It is pure: values in, values out, the same on every machine.
//
// The words are the project's: a sample is one training example; a node is one machine with one buffer;
// a step is one global batch over all nodes; a hit is a sample found in the buffer of the node that
// processes it, a load one that is read from storage. A slot is the place of one sample in a node's part
// of a step; all nodes have equally many slots, so batches are equal.
//
// The rules rest on one fact: a sample is used once per epoch, so a node that keeps as many of the samples
// just used as were hits stays full, and full buffers are all that the least number of loads asks for.
// Which samples are kept, and who loads a miss, is then free, and is chosen so that each node has equally
// many hits in every step of the next epoch: equal batches, and nearly equal loads. SOLAR (arXiv 2211.00224)
// trades the one for the other.
package balance
