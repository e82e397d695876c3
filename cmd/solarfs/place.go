package main

import (
	"os"
	"strconv"

	"github.com/urfave/cli/v2"

	"solarfs/planner"
)

// launcher is the pair of variables by which a job launcher tells a process its
// place among nodes, or among processes.
type launcher struct {
	index, size string
	countsNodes bool
}

// launchers in the order in which they are asked: torchrun, torch, Slurm, Open
// MPI, MPI. Flags and SOLARFS_NODE come before them.
var launchers = []launcher{
	{"GROUP_RANK", "GROUP_WORLD_SIZE", true},
	{"RANK", "WORLD_SIZE", false},
	{"SLURM_NODEID", "SLURM_NNODES", true},
	{"SLURM_PROCID", "SLURM_NTASKS", false},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", false},
	{"PMI_RANK", "PMI_SIZE", false},
}

// nodeIndex finds which of the job's nodes this is, and what said so.
func nodeIndex(c *cli.Context, spec planner.Spec) (node int, from string, err error) {
	switch {
	case c.IsSet("node"):
		node, from = c.Int("node"), source(c, "node")
	case spec.Nodes == 1:
		return 0, "the job's only node", nil
	default:
		if node, from, err = nodeFromEnvironment(os.Getenv, spec); err != nil {
			return 0, "", err
		}
	}
	if node < 0 {
		return 0, "", wrongUse("%s says that this is node %d; give a number from 0 to %d", from, node, spec.Nodes-1)
	}
	if node >= spec.Nodes {
		return 0, "", mismatch("%s says that this is node %d, but the plan is for %s (0 to %d) of %s", from, node, count(spec.Nodes, "node"), spec.Nodes-1, count(spec.RanksPerNode, "rank"))
	}
	return node, from, nil
}

func nodeFromEnvironment(getenv func(string) string, spec planner.Spec) (node int, from string, err error) {
	for _, l := range launchers {
		if getenv(l.index) != "" {
			node, err = l.node(getenv, spec)
			return node, l.index, err
		}
	}
	return 0, "", wrongUse("this job has %d nodes and nothing in the environment says which one this is; give --node (0 to %d)", spec.Nodes, spec.Nodes-1)
}

// node is the launcher's answer. A mount usually runs once per node, and then a
// launcher that numbers processes numbers nodes; its size tells.
func (l launcher) node(getenv func(string) string, spec planner.Spec) (int, error) {
	index, err := placeNumber(getenv, l.index)
	if err != nil {
		return 0, err
	}
	size, err := placeNumber(getenv, l.size)
	if err != nil {
		return 0, err
	}
	unknown := getenv(l.size) == ""
	switch {
	case l.countsNodes && (unknown || size == spec.Nodes):
		return index, nil
	case l.countsNodes:
		return 0, mismatch("%s is %d, but the plan is for %s; make a plan for the job as it is, or give --node", l.size, size, count(spec.Nodes, "node"))
	case unknown || size == spec.Ranks():
		return index / spec.RanksPerNode, nil
	case size == spec.Nodes:
		return index, nil
	}
	return 0, mismatch("%s is %d, but the plan is for %s on %s; make a plan for the job as it is, or give --node",
		l.size, size, count(spec.Ranks(), "rank"), count(spec.Nodes, "node"))
}

// placeNumber reads a variable; 0 if it is not set.
func placeNumber(getenv func(string) string, name string) (int, error) {
	text := getenv(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, wrongUse("%s is %q in the environment, where a number from 0 on should stand; mend it, or give --node", name, text)
	}
	return n, nil
}
