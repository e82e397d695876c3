package balance

// compared is about how many nodes are compared for each sample of a step, hit or load: of 64 nodes, all for a load where one sample of
// eight is loaded, 8 where all are. The best of d chosen bins is filled evenly from d = 2 on (Mitzenmacher, IEEE TPDS 12, 2001); where
// few samples are loaded, few nodes have a slot free for the step, and more must be looked at.
//
// comparedFirst is for steps without hits. What buffers are filled with must be more even: it decides all epochs that follow.
const compared, comparedFirst = 8, 64

// groups are equal parts of the nodes, which take turns.
type groups struct {
	nodes int
	start []int // by group, and the end: its first node
	slots []int // by group: slots free
	rooms []int // by group: nodes that have a slot free and can keep one more
	room  int   // the sum of rooms
	turn  int   // the group that was dealt to last
}

func newGroups(nodes int) groups {
	most := ceilDiv(nodes, compared)
	return groups{nodes: nodes, start: make([]int, 1, most+1), slots: make([]int, most), rooms: make([]int, most)}
}

// divide is called for a step of batch samples, of which so many are to be dealt.
func (g *groups) divide(misses, batch int) {
	n := max(1, ceilDiv(g.nodes*misses, compared*batch))
	if misses == batch {
		n = ceilDiv(g.nodes, comparedFirst)
	}
	g.set(n)
}

func (g *groups) set(n int) {
	g.start = g.start[:1]
	for i := range n {
		g.start = append(g.start, (i+1)*g.nodes/n)
	}
}

// n is how many groups there are.
func (g *groups) n() int { return len(g.start) - 1 }

// begin counts what is free.
func (g *groups) begin(biases []uint64, fill, size []int) {
	clear(g.slots)
	clear(g.rooms)
	g.room = 0
	for i := range g.n() {
		for k := g.start[i]; k < g.start[i+1]; k++ {
			g.slots[i] += size[k] - fill[k]
			g.count(i, biases[k], 1)
		}
	}
}

// next is the next group that has a slot free, and room if any group has.
func (g *groups) next() int {
	has := g.slots[:g.n()]
	if g.room > 0 {
		has = g.rooms[:g.n()]
	}
	for {
		if g.turn++; g.turn >= len(has) {
			g.turn = 0
		}
		if has[g.turn] > 0 {
			return g.turn
		}
	}
}

// count adds by to the nodes with room of group i if a node with that bias is one.
func (g *groups) count(i int, bias uint64, by int) {
	if bias < noRoom {
		g.rooms[i] += by
		g.room += by
	}
}

func ceilDiv(n, by int) int { return (n + by - 1) / by }
