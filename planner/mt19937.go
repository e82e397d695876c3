package planner

// mt19937 is the 32-bit Mersenne Twister of Matsumoto and Nishimura (1998) as torch's CPU generator runs it:
// aten/src/ATen/core/MT19937RNGEngine.h. Only the low 32 bits of a seed count.
type mt19937 struct {
	state [mtWords]uint32
	next  int // first word of state not handed out; mtWords: none left
}

const (
	mtWords = 624
	mtShift = 397
)

func newMT19937(seed uint64) *mt19937 {
	m := &mt19937{next: mtWords}
	m.state[0] = uint32(seed)
	for j := uint32(1); j < mtWords; j++ {
		prev := m.state[j-1]
		m.state[j] = 1812433253*(prev^prev>>30) + j
	}
	return m
}

func (m *mt19937) uint32() uint32 {
	if m.next == mtWords {
		m.twist()
	}
	y := m.state[m.next]
	m.next++
	return temper(y)
}

// fill draws as uint32 does, a third faster since the state is not looked at for each number.
func (m *mt19937) fill(to []uint32) {
	for len(to) > 0 {
		if m.next == mtWords {
			m.twist()
		}
		from := m.state[m.next:]
		n := min(len(from), len(to))
		for i, y := range from[:n] {
			to[i] = temper(y)
		}
		m.next += n
		to = to[n:]
	}
}

// temper is the generator's output function: the state itself would show its linearity.
func temper(y uint32) uint32 {
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// uint64 is CPUGeneratorImpl::random64: the first word drawn is the upper half.
func (m *mt19937) uint64() uint64 {
	high := uint64(m.uint32())
	return high<<32 | uint64(m.uint32())
}

func (m *mt19937) twist() {
	s := &m.state
	for i := range mtWords - mtShift {
		s[i] = s[i+mtShift] ^ mix(s[i], s[i+1])
	}
	for i := mtWords - mtShift; i < mtWords-1; i++ {
		s[i] = s[i+mtShift-mtWords] ^ mix(s[i], s[i+1])
	}
	s[mtWords-1] = s[mtShift-1] ^ mix(s[mtWords-1], s[0])
	m.next = 0
}

func mix(u, v uint32) uint32 {
	return (u&0x80000000|v&0x7fffffff)>>1 ^ -(v&1)&0x9908b0df
}
