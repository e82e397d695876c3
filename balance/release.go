package balance

import (
	"cmp"
	"slices"
)

// surplus is a hit that its holder may have to give away: the larger gain, the better.
type surplus struct {
	position, gain int
}

// release takes from each node the hits beyond its size. They leave its buffer (Drops) and are dealt like misses. Given away are those
// whose coming steps are crowded on this node and are not on another that has slots free.
func (s *State) release(batch []uint32) {
	missed := len(s.misses)
	for k, hits := range s.fill {
		if hits <= s.size[k] {
			continue
		}
		missed += hits - s.size[k]
		s.surplus = s.surplus[:0]
		for i, holder := range s.who[:len(batch)] {
			if int(holder) == k {
				s.surplus = append(s.surplus, surplus{i, s.gain(batch[i], s.when[i], k)})
			}
		}
		slices.SortFunc(s.surplus, func(a, b surplus) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(b.position, a.position))
		})
		for _, given := range s.surplus[:hits-s.size[k]] {
			sample := batch[given.position]
			s.dealt.Drops = append(s.dealt.Drops, Moved{Node: uint16(k), Sample: sample})
			s.who[given.position], s.fates[given.position] = uint16(s.places.nobody), Load
			s.lose(sample, s.when[given.position], k)
		}
		s.fill[k] = s.size[k]
	}
	if missed > len(s.misses) {
		s.listMisses(len(batch))
	}
}

// gain is how much less crowded the steps that need a sample, in the next epoch at step next, are on the best other node that takes more samples in this step.
func (s *State) gain(sample, next uint32, k int) int {
	crowd := s.crowded(sample, next)
	best := -1
	for other, n := range crowd {
		if s.fill[other] < s.size[other] && (best < 0 || n < crowd[best]) {
			best = other
		}
	}
	if best < 0 {
		return 0
	}
	return int(crowd[k]) - int(crowd[best])
}
