package planner

// PlanBytes is about how much memory a Schedule takes while it plans an epoch, with that epoch and the order of the one after it, where
// each epoch is given back by Reuse. Verify and what Only returns are not in it. It does not fall when BufferSamples rises.
func (s Spec) PlanBytes() int64 {
	longest := int64(max(s.Samples, s.Positions()))
	bytes := 4*longest + s.epochBytes(1) + s.policyBytes()
	if s.regular() < s.Samples {
		bytes += int64(s.Samples) / 8 // bounds
	}
	return bytes
}

// NodeBytes is about how much memory the part of one epoch takes that Epoch.Only returns.
func (s Spec) NodeBytes() int64 { return s.epochBytes(s.Nodes) }

// epochBytes is an epoch's memory where of so many equal parts it holds one: samples, fates, and where batches are uneven their starts.
func (s Spec) epochBytes(parts int) int64 {
	bytes := 5 * int64(max(s.Samples, s.Positions()))
	if s.strategy() != Balanced {
		bytes += 2 * int64(s.Samples) // drops: from none to 5 per sample
	}
	if s.MaxImbalance > 0 {
		bytes += 8 * int64(s.Steps()) * int64(s.Nodes)
	}
	if s.chunks() {
		// Riders and drops: the more the buffers hold, the more samples come long before their use.
		bytes += 6 * min(int64(s.Samples), 4*int64(s.allBuffers()))
	}
	return bytes / int64(parts)
}

// chunks tells whether the balanced strategy goes by chunks.
func (s Spec) chunks() bool {
	return s.strategy() == Balanced && (s.Order == OrderBlock || s.Chunk > 1)
}

// policyBytes is the memory of the policy; the types' comments say what it is for.
func (s Spec) policyBytes() int64 {
	samples, epochs, cells := int64(s.Samples), int64(s.Epochs), int64(s.Steps())*int64(s.Nodes)
	held := int64(s.Nodes) * int64(min(s.BufferSamples, s.Samples))
	switch s.strategy() {
	case Solar:
		return 10*samples + 8*held + 16*cells
	case Belady:
		return 4*int64(horizon(s))*(samples+cells) + samples + 8*held
	case LRU:
		return 45 * held
	case Pinned:
		return 20 * held
	case Locality:
		return 2 * samples
	case NoPFS:
		return 17 * samples * epochs / 8
	case NoCache:
		return 0
	}
	if s.chunks() {
		return 18*samples + 16*cells
	}
	return 4 * int64(foresight(s)) * (samples + cells)
}
