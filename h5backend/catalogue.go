package h5backend

import (
	"errors"
	"fmt"
	"strings"

	"gonum.org/v1/hdf5"
)

// entry is one dataset of a file, or what stands in the place of one.
type entry struct {
	path   string // without leading slash
	info   libInfo
	part   *part  // nil: cannot be a field
	reason error  // why not
	same   string // path of the same dataset, listed before
}

// openLib opens a file by libhdf5. It must run inLib.
func openLib(path string) (*libFile, error) {
	f, err := hdf5.OpenFile(path, hdf5.F_ACC_RDONLY)
	if err != nil {
		return nil, openError(path, lastError())
	}
	fl, err := layoutOf(f)
	if err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	return &libFile{File: f, layout: fl}, nil
}

func openError(path string, err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "signature not found"):
		return inputf("%s: not an HDF5 file", path)
	case strings.Contains(text, "truncated file"):
		return inputf("%s: the file is truncated; copy it again (%v)", path, err)
	case strings.Contains(text, "open for write"):
		return inputf("%s: a writer has it open, or has died; close it, or run h5clear -s on the file", path)
	}
	return inputf("%s: cannot be opened as HDF5: %v", path, err)
}

// catalogue lists all datasets of a file in the order of their paths. Groups are visited once, so that a cycle of links ends.
func catalogue(src *sourceFile, f *libFile) ([]entry, error) {
	c := &cataloguer{src: src, file: f, groups: map[uint64]bool{f.layout.root: true}, datasets: map[uint64]string{}}
	root, err := f.OpenGroup("/")
	if err != nil {
		return nil, fmt.Errorf("root group: %w", lastError())
	}
	defer root.Close()
	err = c.visit(root, "")
	return c.entries, err
}

type cataloguer struct {
	src      *sourceFile
	file     *libFile
	groups   map[uint64]bool   // by address
	datasets map[uint64]string // address -> first path
	entries  []entry
}

func (c *cataloguer) visit(g *hdf5.Group, prefix string) error {
	links, err := list(g)
	if err != nil {
		return fmt.Errorf("group /%s: %w", prefix, err)
	}
	for _, l := range links {
		path := prefix + l.name
		switch {
		case l.external || l.object >= 0 && l.fileno != c.file.layout.fileno:
			c.entries = append(c.entries, entry{path: path, reason: errors.New("external link: give the file that it names with --data")})
		case l.object == objectDataset:
			c.add(path, l.address)
		case l.object == objectGroup && !c.groups[l.address]:
			c.groups[l.address] = true
			if err := c.open(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cataloguer) open(path string) error {
	g, err := c.file.OpenGroup("/" + path)
	if err != nil {
		return fmt.Errorf("group /%s: %w", path, lastError())
	}
	defer g.Close()
	return c.visit(g, path+"/")
}

func (c *cataloguer) add(path string, address uint64) {
	e := entry{path: path, same: c.datasets[address]}
	if e.same == "" {
		c.datasets[address] = path
	}
	e.info, e.part, e.reason = lookUp(c.src, c.file, path)
	c.entries = append(c.entries, e)
}

// lookUp describes the dataset at path. part is nil where it cannot be a field, for a reason.
func lookUp(src *sourceFile, f *libFile, path string) (libInfo, *part, error) {
	ds, err := f.OpenDataset("/" + path)
	if err != nil {
		return libInfo{}, nil, lastError()
	}
	defer ds.Close()
	info, err := describe(ds)
	if err != nil {
		return libInfo{}, nil, err
	}
	p, err := newPart(src, path, info, f.layout)
	return info, p, err
}
