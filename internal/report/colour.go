package report

import (
	"strings"

	"github.com/go-analyze/charts"
)

// role says what a colour stands for, in the page's style sheet as well: --loads, class "loads".
type role string

const (
	roleText  role = "text"
	roleAxis  role = "axis"
	roleGrid  role = "grid"
	roleLoads role = "loads"
	roleBound role = "bound" // a broad line: loads often lie on it
	roleMost  role = "most"
	roleLeast role = "least"
)

// roles of the lines for single nodes follow these.
var roles = [...]role{roleText, roleAxis, roleGrid, roleLoads, roleBound, roleMost, roleLeast, "n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"}

func nodeRole(node int) role { return roles[len(roles)-singleNodes+node] }

// stand returns the colour that stands for a role in what the library draws.
func (r role) stand() charts.Color {
	for i, known := range roles {
		if known == r {
			return charts.Color{R: 1, G: 2, B: uint8(3 + i), A: 255}
		}
	}
	panic("report: no colour for " + string(r))
}

// toStyleSheet gives the colours and the font of a drawing over to the style sheet, so that one drawing serves light, dark and print.
var toStyleSheet = func() *strings.Replacer {
	pairs := []string{";font-size:12px;font-family:'Roboto Medium',sans-serif", ""}
	for _, r := range roles {
		from, to := r.stand().String(), "var(--"+string(r)+")"
		if r == roleBound {
			pairs = append(pairs, "stroke-width:1.5;stroke:"+from, "stroke-width:5;stroke:"+to, "stroke-width:1;stroke:"+from, "stroke-width:6;stroke:"+to)
		}
		pairs = append(pairs, from, to)
	}
	return strings.NewReplacer(pairs...)
}()
