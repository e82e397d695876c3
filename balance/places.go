package balance

import "math/bits"

// places says of each sample which node holds it and which step of the next epoch uses it. Both stand in one word, since every
// step looks up both for a thousand samples at random, and two arrays would be two cache misses for each.
type places struct {
	word          []uint32 // by sample: step<<bits | node
	bits          uint
	nobody, never uint32 // the node where no buffer holds a sample, and the step where the epoch does not use it
}

// placesOf is places without its words.
func placesOf(nodes int) places {
	n := uint(bits.Len(uint(nodes)))
	return places{bits: n, nobody: 1<<n - 1, never: 1<<(32-n) - 1}
}

func newPlaces(shape Shape) places {
	p := placesOf(shape.Nodes)
	p.word = make([]uint32, shape.Samples)
	for i := range p.word {
		p.word[i] = p.never<<p.bits | p.nobody
	}
	return p
}

// MaxSteps is the largest number of steps of an epoch on that many nodes: with a batch of one sample per node it is reached at some two billion
// samples, with larger ones never.
func MaxSteps(nodes int) int { return int(placesOf(nodes).never) }

// node is who holds a sample, or p.nobody.
func (p places) node(sample uint32) uint32 { return p.word[sample] & p.nobody }

func (p places) set(sample, step, node uint32) { p.word[sample] = step<<p.bits | node }

// forget says of all samples that the next epoch does not use them.
func (p places) forget() {
	for i := range p.word {
		p.word[i] |= p.never << p.bits
	}
}
