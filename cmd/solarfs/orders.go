package main

import (
	"slices"

	"solarfs/planner"
)

// epochOrders compares the orders in which strategy solar may visit torch's epochs.
type epochOrders struct {
	Torch epochOrder `json:"torch"`
	Swarm epochOrder `json:"swarm"` // the paper's particle swarm
	Best  epochOrder `json:"best"`  // the one that is used: greedy from every start and or-opt, or the shortest of all
	Exact bool       `json:"exact"` // no path is shorter than best's (up to 12 epochs)
}

// epochOrder is one order: what its path costs in the paper's model, and what its plan loads.
type epochOrder struct {
	Order      []int `json:"order"`
	Cost       int   `json:"cost"`
	Loads      int   `json:"loads"`
	LoadsSaved int   `json:"loads_saved"` // against torch's order
}

// compareOrders plans the job in each order that was found; best is the plan of the best one.
func compareOrders(spec planner.Spec, found planner.EpochOrders, best planner.Report, bar *progress) (*epochOrders, error) {
	orders := &epochOrders{Exact: found.Exact}
	for _, o := range []struct {
		to   *epochOrder
		path planner.Path
	}{{&orders.Torch, found.Torch}, {&orders.Swarm, found.Swarm}, {&orders.Best, found.Best}} {
		loads := best.Loads
		if !slices.Equal(o.path.Order, found.Best.Order) {
			other := spec
			other.Visit = o.path.Order
			bar.more(spec.Epochs)
			report, err := planner.MakeReport(other, func(*planner.Epoch, *planner.Schedule) { bar.add(1) })
			if err != nil {
				return nil, err
			}
			loads = report.Loads
		}
		*o.to = epochOrder{Order: o.path.Order, Cost: o.path.Cost, Loads: loads, LoadsSaved: orders.Torch.Loads - loads}
		if o.to == &orders.Torch {
			o.to.LoadsSaved = 0
		}
	}
	return orders, nil
}
