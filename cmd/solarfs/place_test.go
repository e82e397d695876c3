package main

import (
	"strings"
	"testing"

	"solarfs/planner"
)

func TestNodeFromEnvironment(t *testing.T) {
	type env map[string]string
	for _, c := range []struct {
		env  env
		node int
		from string
		code int
		says string
	}{
		{env: env{}, code: exitUse, says: "give --node (0 to 3)"},
		{env: env{"RANK": "5"}, node: 2, from: "RANK"},
		{env: env{"RANK": "5", "WORLD_SIZE": "8"}, node: 2, from: "RANK"},
		{env: env{"RANK": "3", "WORLD_SIZE": "4"}, node: 3, from: "RANK"}, // one process per node
		{env: env{"RANK": "3", "WORLD_SIZE": "6"}, code: exitMismatch, says: "WORLD_SIZE is 6, but the plan is for 8 ranks on 4 nodes"},
		{env: env{"RANK": "5", "GROUP_RANK": "1"}, node: 1, from: "GROUP_RANK"},
		{env: env{"GROUP_RANK": "1", "GROUP_WORLD_SIZE": "4"}, node: 1, from: "GROUP_RANK"},
		{env: env{"GROUP_RANK": "1", "GROUP_WORLD_SIZE": "8"}, code: exitMismatch, says: "GROUP_WORLD_SIZE is 8, but the plan is for 4 nodes"},
		{env: env{"RANK": "x", "SLURM_NODEID": "3"}, code: exitUse, says: `RANK is "x"`},
		{env: env{"RANK": "", "SLURM_NODEID": "3", "SLURM_NNODES": "4", "SLURM_PROCID": "0"}, node: 3, from: "SLURM_NODEID"},
		{env: env{"SLURM_NODEID": "1", "SLURM_NNODES": "2"}, code: exitMismatch, says: "SLURM_NNODES is 2"},
		{env: env{"SLURM_NODEID": "-1"}, code: exitUse, says: `SLURM_NODEID is "-1"`},
		{env: env{"SLURM_PROCID": "7", "SLURM_NTASKS": "8"}, node: 3, from: "SLURM_PROCID"},
		{env: env{"SLURM_PROCID": "3", "SLURM_NTASKS": "4"}, node: 3, from: "SLURM_PROCID"},
		{env: env{"SLURM_PROCID": "3", "SLURM_NTASKS": "many"}, code: exitUse, says: `SLURM_NTASKS is "many"`},
		{env: env{"OMPI_COMM_WORLD_RANK": "4", "OMPI_COMM_WORLD_SIZE": "8"}, node: 2, from: "OMPI_COMM_WORLD_RANK"},
		{env: env{"PMI_RANK": "1", "PMI_SIZE": "0"}, code: exitMismatch, says: "PMI_SIZE is 0"},
	} {
		getenv := func(name string) string { return c.env[name] }
		node, from, err := nodeFromEnvironment(getenv, planner.Spec{Nodes: 4, RanksPerNode: 2})
		if c.code != 0 {
			if err == nil || exitCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: %v, want exit code %d and %q", c.env, err, c.code, c.says)
			}
		} else if err != nil || node != c.node || from != c.from {
			t.Errorf("%v: node %d from %q, %v; want %d from %q", c.env, node, from, err, c.node, c.from)
		}
	}
}
