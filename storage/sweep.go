package storage

import "math"

// lot is chunks of one field, equally dense in the file: a sweep needs the part d of all. Between two that it needs lie k others
// with probability d(1-d)^k.
type lot struct {
	needed float64 // chunks that a sweep needs
	skip   float64 // log(1-d)
	odds   float64 // (1-d)/d, the mean of k
}

// reads is what a sweep reads of one field whose chunks have so many bytes, if it reads over gaps of up to gap bytes.
func reads(lots []lot, bytes, gap float64) (d Demand) {
	g := math.Floor(gap / bytes)
	needed, requests, between := 0.0, 0.0, 0.0
	for _, l := range lots {
		over := math.Exp((g + 1) * l.skip) // the part of the gaps that are wider
		needed += l.needed
		requests += l.needed * over
		between += l.needed * max(l.odds*(1-over)-(g+1)*over, 0) // the gaps that are read
	}
	first := min(1, 1/needed) // no gap lies before the first chunk
	requests += (needed - requests) * first
	return Demand{requests, bytes * (needed + between*(1-first))}
}

// slice is a part of the file over which a node's loads are spread evenly at random.
type slice struct {
	width float64 // of the file, 0..1
	loads float64 // of a sweep
}

// lots cuts slices by how often a sweep needs a sample. A sweep can lie across the border of two epochs, that is, in cover of all cases,
// cover being the part of an epoch's loads that it meets; with a of it before the border and b behind, it meets a sample
// twice with probability q²ab and reads it once, q being the part of the samples that an epoch loads.
func lots(slices []slice, samples, cover float64, f Field) []lot {
	const borders = 4 // cases of a
	var out []lot
	c := float64(f.ChunkSamples)
	for _, s := range slices {
		if s.loads <= 0 || s.width <= 0 {
			continue
		}
		places := s.width * samples
		once := s.loads / places
		add := func(weight, twice float64) {
			skip := c * math.Log1p(-min(once-twice, 1-1e-12))
			d := -math.Expm1(skip)
			out = append(out, lot{weight * d * places / c, skip, (1 - d) / d})
		}
		add(1-cover, 0)
		for i := range borders {
			a := (float64(i) + .5) / borders
			add(cover/borders, once*once*a*(1-a))
		}
	}
	return out
}

// slices says where one node finds the loads of a sweep, all nodes together loading loads samples per epoch.
//
// Of a node's loads the part kept stay in its buffer; they stand anywhere. The rest are dealt by place: of each global batch node 0
// gets the first ones in the file, node 1 the next. So node k reads them from the k-th part of the file, whose borders f move from
// batch to batch as quantiles of the n such loads of a batch do, with deviation sqrt(f(1-f)/n). That is most in the middle, whose node
// is the slowest, and taken here.
func (j Job) slices(loads, kept, sweep float64) []slice {
	if j.Nodes == 1 {
		return []slice{{1, sweep}}
	}
	const parts = 16
	k, nodes := float64(j.Nodes/2), float64(j.Nodes)
	dealt := max(1, loads/float64(j.Samples)*(1-kept)*float64(j.StepSamples)*nodes)
	begin, end := k/nodes, (k+1)/nodes
	deviation := func(f float64) float64 { return math.Sqrt(f * (1 - f) / dealt) }
	from, to := max(0, begin-3*deviation(begin)), min(1, end+3*deviation(end))
	out := []slice{{width: 1 - (to - from)}}
	own := 0.0
	for i := range parts {
		x := from + (to-from)*(float64(i)+.5)/parts
		mine := normal((x-begin)/deviation(begin)) - normal((x-end)/deviation(end))
		out = append(out, slice{(to - from) / parts, mine})
		own += mine
	}
	for i := range out {
		out[i].loads = sweep * (out[i].loads/own*(1-kept) + out[i].width*kept)
	}
	return out
}

// normal is the normal distribution function.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
