package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageHTML string

//go:embed style.css
var styleSheet string

var page = template.Must(template.New("page").Parse(pageHTML))

// view is what the template sees.
type view struct {
	Page
	Style    template.CSS
	Sections []section
	Figures  template.JS
}

// Write writes the page. It fails where a row breaks Row's invariants, or where w does, and writes nothing in the first case.
func Write(w io.Writer, p Page) error {
	if err := p.check(); err != nil {
		return err
	}
	f := newFigures(p)
	v := view{Page: p, Style: template.CSS(styleSheet)}
	for _, make := range []func([]rowFigures) (section, error){comparison, epochs, nodeSteps, nodeMeans, hits, batches} {
		s, err := make(f.Rows)
		if err != nil {
			return err
		}
		if len(s.Figures)+len(s.Tables) > 0 {
			v.Sections = append(v.Sections, s)
		}
	}
	encoded, err := f.encode()
	if err != nil {
		return err
	}
	v.Figures = template.JS(encoded)
	var out bytes.Buffer
	if err := page.Execute(&out, v); err != nil {
		return fmt.Errorf("fill the page in: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
