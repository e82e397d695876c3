package cache

// How the window is divided between batch files and slots for what is read ahead of them.
const (
	// openSteps is how many steps a loader's workers have open at once: eight of PyTorch's, with its prefetch_factor of 2.
	openSteps = 16
	// openPart is the part of window and buffer that as many batch files may take.
	openPart = 20
	// aheadLoads is how many loads are read ahead of the batch files where sweeps over the file are not worth their memory: several times a
	// useful queue depth, since steps may have few loads each.
	aheadLoads = 64
	// slotTables is what the lists of planned steps and of a sweep's loads take for each slot, in bytes.
	slotTables = 256
)

// divideWindow gives the window's bytes for batch files, and its slots for loads whose step is not committed. A window that the plan
// made for files has few slots, and most loads are read straight into files; one that it made larger is for sweeps over
// the file, and its loads wait in slots.
func (cfg *Config) divideWindow() (files int64, ahead int) {
	step, slot, window := StepBytes(cfg.Spec, cfg.Fields), int64(slotTables), cfg.Memory.Window
	for _, f := range cfg.Fields {
		slot += int64(f.Bytes)
	}
	open := min(openSteps*step, (window+slot*int64(cfg.Spec.BufferSamples))/openPart)
	most := (window - max(open, 2*step)) / slot
	switch {
	case window < 2*step:
		most = (window - step) / slot
	case cfg.Spec.Chunk <= 1 && window/step >= int64(cfg.Spec.Epochs)*int64(cfg.Spec.Steps()): // no load waits for its file
		most = 0
	case most <= aheadLoads:
		most = min(aheadLoads, window/4/slot, (window-2*step)/slot)
	}
	ahead = int(max(0, min(most, int64(cfg.Spec.Samples))))
	return window - int64(ahead)*slot, ahead
}
