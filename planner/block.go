package planner

// blockOrder is the order of an epoch with OrderBlock: the chunks in random order, dealt to the nodes in turn; every
// node's samples shuffled within BlockChunks chunks; of each step, node k's part holds the next samples of its chunks. So a
// node that holds BlockChunks chunks reads each of its chunks once. What one node has more than another at the end goes to those that have less.
//
// Source: the two levels of CorgiPile (Xu et al., SIGMOD 2022, https://doi.org/10.1145/3514221.3526150), without its second buffer.
func (s Spec) blockOrder(seed uint64) []uint32 {
	m := newMT19937(seed)
	streams := s.blockStreams(m)
	for _, stream := range streams {
		size := s.BlockChunks * s.block()
		for from := 0; from < len(stream); from += size {
			shuffleForward(stream[from:min(from+size, len(stream))], m)
		}
	}
	order := make([]uint32, 0, s.Samples)
	for step := 0; len(order) < s.Samples; step++ {
		share := s.RanksPerNode * s.BatchSize
		if step < s.Steps() {
			share = s.RanksPerNode * s.Rows(step)
		}
		order = takeShares(order, streams, share)
	}
	return order
}

// block is how many samples stand in a block: those of a chunk.
func (s Spec) block() int { return max(1, s.Chunk) }

// blockStreams deals the chunks, in random order, to the nodes.
func (s Spec) blockStreams(m *mt19937) [][]uint32 {
	chunks := make([]uint32, ceilDiv(s.Samples, s.block()))
	for i := range chunks {
		chunks[i] = uint32(i)
	}
	shuffleForward(chunks, m)
	streams := make([][]uint32, s.Nodes)
	for i, chunk := range chunks {
		from := int(chunk) * s.block()
		for sample := from; sample < min(from+s.block(), s.Samples); sample++ {
			streams[i%s.Nodes] = append(streams[i%s.Nodes], uint32(sample))
		}
	}
	return streams
}

// takeShares appends a step: share samples of each stream, or of the longest ones where a stream has not enough left.
func takeShares(order []uint32, streams [][]uint32, share int) []uint32 {
	for k := range streams {
		for need := share; need > 0; {
			from := k
			if len(streams[k]) == 0 {
				from = longest(streams)
			}
			n := min(need, len(streams[from]))
			if n == 0 {
				return order
			}
			order = append(order, streams[from][:n]...)
			streams[from] = streams[from][n:]
			need -= n
		}
	}
	return order
}

func longest(streams [][]uint32) (k int) {
	for i := range streams {
		if len(streams[i]) > len(streams[k]) {
			k = i
		}
	}
	return k
}
