package main

import "testing"

func TestNodeFromEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		node int
		from string
	}{
		{map[string]string{}, 0, ""},
		{map[string]string{"RANK": "5"}, 2, "RANK"},
		{map[string]string{"RANK": "5", "GROUP_RANK": "1"}, 1, "GROUP_RANK"},
		{map[string]string{"RANK": "x", "SLURM_NODEID": "3"}, 3, "SLURM_NODEID"},
		{map[string]string{"SLURM_PROCID": "7"}, 3, "SLURM_PROCID"},
		{map[string]string{"RANK": "2", "SLURM_NODEID": "3"}, 1, "RANK"},
		{map[string]string{"OMPI_COMM_WORLD_RANK": "4"}, 2, "OMPI_COMM_WORLD_RANK"},
		{map[string]string{"PMI_RANK": "1"}, 0, "PMI_RANK"},
	} {
		lookup := func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }
		if node, from := nodeFromEnvironment(lookup, 2); node != c.node || from != c.from {
			t.Errorf("%v: node %d from %q, want %d from %q", c.env, node, from, c.node, c.from)
		}
	}
}
