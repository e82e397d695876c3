package storage

import "math"

// Prediction is what one node reads in an epoch, and how long the epoch takes. All nodes are taken to be alike.
type Prediction struct {
	Loads  float64 // samples
	Demand         // of the slowest node
	Gap    float64 // bytes: gaps up to this are read over
	// Seconds is the epoch's time: what reading takes, or all steps' StepSeconds if that is more.
	Seconds float64
}

// Predict says what an epoch after the first takes if all buffers together hold the part kept of the set (0..1) and each node's window has
// room for window samples. First says the same of the first epoch, which finds nothing in the buffers.
//
// One node loads N(1-kept)/K samples. Two steps of batch files come off the window; what is left holds w loads, so a sweep meets
// 2w of them (see the package), at least those of a step and at most those of an epoch. The gap is the one with the least Model.Seconds.
func Predict(m Model, j Job, kept, window float64) Prediction {
	return j.predict(m, float64(j.Samples)*(1-kept), kept, window)
}

// First is Predict for the first epoch.
func First(m Model, j Job, kept, window float64) Prediction {
	return j.predict(m, float64(j.Samples), kept, window)
}

// predict is Predict with loads samples to be loaded by all nodes.
func (j Job) predict(m Model, loads, kept, window float64) Prediction {
	p := Prediction{Loads: loads / float64(j.Nodes), Seconds: j.steps() * j.StepSeconds}
	if p.Loads <= 0 {
		return p
	}
	sweep := j.sweep(p.Loads, window)
	var fields [][]lot
	for _, f := range j.Fields {
		fields = append(fields, lots(j.slices(loads, kept, sweep), float64(j.Samples), sweep/p.Loads, f))
	}
	reading := math.Inf(1)
	j.searchGap(func(gap float64) (byRequests bool) {
		var d Demand
		for i, f := range j.Fields {
			one := reads(fields[i], float64(f.ChunkBytes), gap)
			d.Requests += one.Requests * p.Loads / sweep
			d.Bytes += one.Bytes * p.Loads / sweep
		}
		all := d.Bytes * float64(j.Nodes)
		if t := m.seconds(d, all); t < reading {
			reading, p.Demand, p.Gap = t, d, gap
		}
		return d.Requests/m.Rate() > m.seconds(Demand{Bytes: d.Bytes}, all)
	})
	p.Seconds = max(p.Seconds, reading)
	return p
}

// sweep is how many loads a sweep meets, for a node of loads per epoch.
func (j Job) sweep(loads, window float64) float64 {
	step := float64(j.StepSamples)
	return min(max(2*(window-2*step), loads/j.steps()), loads)
}

// searchGap tries gaps around the one where requests cease to take longer than bytes. A wider gap means no more requests and no fewer
// bytes, so the best is that one, or the next smaller.
func (j Job) searchGap(try func(gap float64) (byRequests bool)) {
	low, high := -1.0, 0.0 // whole bytes: at low it is requests, at high bytes
	for _, f := range j.Fields {
		high = max(high, float64(j.Samples)*float64(f.ChunkBytes))
	}
	high = min(high, 1<<52) // beyond, a float64 is not every whole number
	try(high)
	for high-low > 1 {
		if middle := math.Floor((low + high) / 2); try(middle) {
			low = middle
		} else {
			high = middle
		}
	}
}
