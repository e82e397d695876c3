package main

import (
	"log/slog"

	"solarfs/cache"
)

// dataPlane is what a node's data plane is made of.
func (j *job) dataPlane(node int, allRanks bool, r readers, log *slog.Logger) cache.Config {
	plan := &j.plan
	perSample := int64(1) // of the field whose bytes are most
	for _, u := range j.set.Units() {
		perSample = max(perSample, u.Bytes/int64(u.Samples))
	}
	return cache.Config{
		Spec: plan.Spec, Digests: plan.Digests, Node: node, AllRanks: allRanks, Fields: j.set.Fields(),
		Ahead: r.ahead, Now: r.now, Log: log, Resume: j.resumer(log),
		Gap:    func() int { return int(r.ahead.Gap() / perSample) },
		Memory: cache.Split{Limit: plan.Memory.Limit, Window: plan.Memory.Window, Stray: plan.Memory.Stray},
	}
}
