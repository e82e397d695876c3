package balance

import "testing"

// Every node below Nodes and every step below MaxSteps has a word of its own, beside nobody and never.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ nodes, steps int }{{1, 1<<31 - 1}, {2, 1<<30 - 1}, {3, 1<<30 - 1}, {4, 1<<29 - 1}, {16, 1<<27 - 1}, {MaxNodes, 1<<16 - 1}} {
		if got := MaxSteps(c.nodes); got != c.steps {
			t.Errorf("%d nodes: %d steps at most, want %d", c.nodes, got, c.steps)
		}
		p := newPlaces(Shape{Samples: 3, Nodes: c.nodes})
		if p.node(1) != p.nobody || p.word[1]>>p.bits != p.never {
			t.Errorf("%d nodes: a sample is held, or used, at the beginning", c.nodes)
		}
		node, step := uint32(c.nodes-1), uint32(c.steps-1)
		p.set(1, step, node)
		if p.node(1) != node || p.word[1]>>p.bits != step || node == p.nobody || step == p.never {
			t.Errorf("%d nodes: node %d and step %d are not read back", c.nodes, node, step)
		}
		p.forget()
		if p.node(1) != node || p.word[1]>>p.bits != p.never || p.node(0) != p.nobody {
			t.Errorf("%d nodes: forget takes more than the steps", c.nodes)
		}
	}
}
