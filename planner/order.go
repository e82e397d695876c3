package planner

// insideOutFrom is the size (UINT32_MAX / 20) from which torch 2.6 and later draw a permutation with 64-bit
// numbers, inside out (pytorch #143682). Older versions of torch keep the first method for any size.
const insideOutFrom = 214_748_364

// EpochOrder returns the positions of an epoch: the samples in the order in which torch's ranks take them,
// global batch t being EpochOrder(e)[t*G : (t+1)*G] with G = Ranks*BatchSize. Length Spec.Positions().
//
// The epochs of a spec with Visit are torch's in that order.
//
// Source: torch/utils/data/distributed.py, DistributedSampler.__iter__, the same in torch 1.13 and 2.6.
func (s Spec) EpochOrder(epoch int) []uint32 {
	return s.epochOrder(epoch, make([]uint32, max(s.Samples, s.Positions())))
}

// epochOrder is EpochOrder in the memory of another epoch's order.
func (s Spec) epochOrder(epoch int, order []uint32) []uint32 {
	order = order[:cap(order)]
	seed := uint64(s.Seed) + uint64(s.torchEpoch(epoch))
	switch s.Order {
	case OrderBlock:
		copy(order, s.blockOrder(seed))
	default:
		for i := range s.Samples {
			order[i] = uint32(i)
		}
		if s.Order == OrderTorch {
			shuffle(order[:s.Samples], seed)
		}
	}
	for i := s.Samples; i < len(order); i++ {
		order[i] = order[i-s.Samples] // padded from its own start, as often as needed
	}
	return order[:s.Positions()]
}

// torchEpoch is which of torch's epochs that epoch reads.
func (s Spec) torchEpoch(epoch int) int {
	if len(s.Visit) == 0 {
		return epoch
	}
	return s.Visit[epoch]
}

// shuffle turns 0..n-1 into torch.randperm(n) of a CPU generator with that seed.
// Source: aten/src/ATen/native/TensorFactories.cpp, randperm_cpu.
func shuffle(r []uint32, seed uint64) {
	if len(r) < insideOutFrom {
		shuffleForward(r, newMT19937(seed))
	} else {
		shuffleInsideOut(r, newMT19937(seed))
	}
}

// draws is how many swaps are drawn before they are made. The numbers take long to make and each swap waits for memory: apart from
// them, many swaps wait at once, which makes a permutation of 10 million samples three times as fast.
const draws = 512

func shuffleForward(r []uint32, m *mt19937) {
	var to [draws]uint32
	for len(r) > 1 {
		n := min(draws, len(r)-1)
		m.fill(to[:n])
		for i, z := range to[:n] {
			to[i] = uint32(i) + z%uint32(len(r)-i)
		}
		for i, z := range to[:n] {
			r[i], r[z] = r[z], r[i]
		}
		r = r[n:]
	}
}

func shuffleInsideOut(r []uint32, m *mt19937) {
	var to [draws]uint32
	for from := 0; from < len(r); from += draws {
		n := min(draws, len(r)-from)
		for i := range to[:n] {
			to[i] = uint32(m.uint64() % uint64(from+i+1))
		}
		for i, z := range to[:n] {
			r[from+i], r[z] = r[z], r[from+i]
		}
	}
}
