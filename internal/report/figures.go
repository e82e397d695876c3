package report

import (
	"encoding/json"
	"fmt"
)

// figures is the page's JSON: the rows with their series rounded, and the nodes' series replaced by their spread where there are many nodes.
type figures struct {
	Page
	Rows []rowFigures `json:"rows"`
}

type rowFigures struct {
	Row
	*spread
}

func newFigures(p Page) figures {
	f := figures{Page: p, Rows: make([]rowFigures, 0, len(p.Rows))}
	for _, row := range p.Rows {
		f.Rows = append(f.Rows, rowFigures{row.rounded(), newSpread(row).rounded()})
	}
	return f
}

// encode returns JSON that may stand in a script element: encoding/json writes <, > and & as \u003c, \u003e and \u0026.
func (f figures) encode() ([]byte, error) {
	rows := make([]rowFigures, len(f.Rows))
	copy(rows, f.Rows)
	for i := range rows {
		if len(rows[i].LoadsPerNode) > singleNodes {
			rows[i].LoadsPerNode = nil
		}
	}
	f.Rows = rows
	out, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode the figures: %w", err)
	}
	return out, nil
}
