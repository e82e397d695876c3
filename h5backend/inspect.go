package h5backend

import (
	"path/filepath"
)

// Dataset is what inspect prints for one dataset.
type Dataset struct {
	Path    string   `json:"path"`
	Shape   []uint64 `json:"shape"`
	DType   string   `json:"dtype"`  // numpy's, in the file's byte order, or the name of the type's class
	Layout  string   `json:"layout"` // contiguous, chunked, compact, virtual, external or link
	Index   string   `json:"index,omitempty"`
	Chunk   []uint64 `json:"chunk,omitempty"`
	Filters []string `json:"filters,omitempty"`
	Stored  uint64   `json:"stored_bytes"`
	Field   bool     `json:"field"`          // can be a field
	Read    string   `json:"read,omitempty"` // direct, decode or h5dread
	Why     string   `json:"why,omitempty"`  // why it cannot be a field, or is not read directly

	Name    string `json:"name,omitempty"`     // of the field that it is by the default rule
	LeftOut string `json:"left_out,omitempty"` // why it is none by the default rule
}

// Describe lists all datasets of a file and how each would be read.
func Describe(file string) (out []Dataset, err error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, inputf("%s: %v", file, err)
	}
	src, err := openSource(path)
	if err != nil {
		return nil, err
	}
	f := &fileParts{src: src}
	defer f.close()
	err = inLib(func() error {
		lib, err := openLib(path)
		if err != nil {
			return err
		}
		defer lib.Close()
		entries, err := catalogue(src, lib)
		names, left := defaultNames(entries)
		for _, e := range entries {
			d := f.describe(lib, e)
			d.Name, d.LeftOut = names[e.path], left[e.path]
			out = append(out, d)
		}
		return err
	})
	if err != nil {
		return nil, inputIn(path, err)
	}
	return out, nil
}

// defaultNames gives by path what the default rule takes, and why it leaves the rest out.
func defaultNames(entries []entry) (names, left map[string]string) {
	names, left = map[string]string{}, map[string]string{}
	chosen, others, err := chooseLongest(entries)
	if err != nil {
		return names, left // each entry has its reason
	}
	called, err := fieldNames(chosen)
	for i, c := range chosen {
		if err != nil {
			left[c.path] = err.Error()
			continue
		}
		names[c.path] = called[i]
	}
	for _, o := range others {
		left[o.Path] = o.Why
	}
	return names, left
}

// describe must run inLib.
func (f *fileParts) describe(lib *libFile, e entry) Dataset {
	in := e.info
	d := Dataset{Path: e.path, Shape: in.dims, Layout: layoutText(in), Chunk: in.chunk, Stored: in.storage}
	if d.Shape == nil {
		d.Shape = []uint64{}
	}
	for _, x := range in.filters {
		d.Filters = append(d.Filters, x.String())
	}
	if d.Layout != "link" {
		d.DType = in.typ.text()
	}
	if e.part == nil {
		d.Why = e.reason.Error()
		return d
	}
	err := f.prepare(lib, e.part, in, thoroughChecks)
	if err != nil {
		d.Why = err.Error()
		return d
	}
	if e.part.lib != nil {
		e.part.lib.close()
	}
	d.Field, d.Read, d.Why, d.Index = true, e.part.way.String(), e.part.why, e.part.index
	return d
}

func layoutText(in libInfo) string {
	switch {
	case in.typ.size == 0:
		return "link"
	case in.external:
		return "external"
	case in.layout == layoutContiguous:
		return "contiguous"
	case in.layout == layoutChunked:
		return "chunked"
	case in.layout == layoutCompact:
		return "compact"
	}
	return "virtual"
}

// text is the numpy dtype, or the class where there is none.
func (t storedType) text() string {
	if s, err := t.numpy(); err == nil {
		return s
	}
	if t.variable {
		return "variable length " + t.className()
	}
	return t.className()
}
