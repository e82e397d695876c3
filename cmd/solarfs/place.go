package main

import (
	"os"
	"strconv"

	"github.com/urfave/cli/v2"
)

// launcher is how one kind of job launcher tells a process its place: either
// the node's index, or the rank, which counts node by node.
type launcher struct {
	name, node, rank string
}

// launchers in the order in which they are asked. Flags and SOLARFS_NODE come
// before them.
var launchers = []launcher{
	{name: "torchrun", node: "GROUP_RANK"},
	{name: "torch", rank: "RANK"},
	{name: "Slurm", node: "SLURM_NODEID", rank: "SLURM_PROCID"},
	{name: "Open MPI", rank: "OMPI_COMM_WORLD_RANK"},
	{name: "MPI", rank: "PMI_RANK"},
}

// nodeIndex finds which of the job's nodes this is.
func nodeIndex(c *cli.Context, nodes, ranksPerNode int) (int, error) {
	node, from := 0, ""
	if c.IsSet("node") {
		node, from = c.Int("node"), "--node"
	} else if nodes > 1 {
		node, from = nodeFromEnvironment(os.LookupEnv, ranksPerNode)
		if from == "" {
			return 0, wrongUse("this job has %d nodes and nothing in the environment says which one this is; give --node (0 to %d)", nodes, nodes-1)
		}
	}
	if node < 0 || node >= nodes {
		return 0, mismatch("%s says that this is node %d, but the plan is for %d nodes (0 to %d) of %d ranks", from, node, nodes, nodes-1, ranksPerNode)
	}
	return node, nil
}

func nodeFromEnvironment(lookup func(string) (string, bool), ranksPerNode int) (node int, from string) {
	for _, l := range launchers {
		if text, ok := lookup(l.node); ok && l.node != "" {
			if n, err := strconv.Atoi(text); err == nil {
				return n, l.node
			}
		}
		if text, ok := lookup(l.rank); ok && l.rank != "" {
			if n, err := strconv.Atoi(text); err == nil {
				return n / ranksPerNode, l.rank
			}
		}
	}
	return 0, ""
}
