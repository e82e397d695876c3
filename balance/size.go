package balance

// Share decides how many samples each node processes in a step, given its hits: its equal share slots, or, where batches may
// be uneven, as many of its hits as it may have, the rest being filled up from the lowest. The outcome goes into sizes.
func (s Shape) Share(hits []int, slots int, sizes []int) {
	if s.Imbalance == 0 {
		for k := range sizes {
			sizes[k] = slots
		}
		return
	}
	low, total := s.Least(slots), slots*s.Nodes
	// As much as all may have at most, so that enough is left for everyone's least.
	top := largest(slots, s.Most(slots), func(top int) bool { return clamped(hits, low, top) <= total })
	for k, n := range hits {
		sizes[k] = min(max(n, low), top)
	}
	fillUp(sizes, low, slots, total)
}

func clamped(counts []int, low, top int) (sum int) {
	for _, n := range counts {
		sum += min(max(n, low), top)
	}
	return sum
}

// fillUp raises the smallest sizes until they sum up to total. All are at least low; raised to high they would be total at least.
func fillUp(sizes []int, low, high, total int) {
	raised := func(level int) (n int) {
		for _, size := range sizes {
			n += max(size, level)
		}
		return n
	}
	level := largest(low, high, func(level int) bool { return raised(level) <= total })
	missing := total - raised(level)
	for k, size := range sizes {
		if size > level {
			continue
		}
		sizes[k] = level
		if missing > 0 {
			sizes[k]++
			missing--
		}
	}
}

// largest returns the largest n from low to high for which ok holds. It holds for low, and never again once it does not.
func largest(low, high int, ok func(int) bool) int {
	for low < high {
		if mid := (low + high + 1) / 2; ok(mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}
