package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// luminance and contrast are those of WCAG 2.2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	rgb, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(c uint64) float64 {
		v := float64(c&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8) + 0.0722*linear(rgb)
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// Text must stand out by 4.5, lines and bars by 3, on the page and on a table's stripes (WCAG 1.4.3 and 1.4.11). Grid lines may be faint. The line of the loads lies on that of the bound.
func TestContrast(t *testing.T) {
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(styleSheet, -1)
	if len(schemes) != 2 {
		t.Fatalf("%d colour schemes, want light and dark", len(schemes))
	}
	for i, scheme := range schemes {
		colours := map[string]float64{}
		for _, c := range regexp.MustCompile(`--(\w+): #([0-9a-f]{6});`).FindAllStringSubmatch(scheme[1], -1) {
			colours[c[1]] = luminance(t, c[2])
		}
		for _, r := range roles {
			if _, ok := colours[string(r)]; !ok {
				t.Errorf("scheme %d has no colour %s", i, r)
			}
		}
		if got := contrast(colours["loads"], colours["bound"]); got < 2.5 {
			t.Errorf("scheme %d: loads on their bound have contrast %.2f, want 2.5", i, got)
		}
		for name, l := range colours {
			least := 3.0
			switch name {
			case "text", "note":
				least = 4.5
			case "page", "stripe", "grid":
				continue
			}
			for _, ground := range []string{"page", "stripe"} {
				if got := contrast(l, colours[ground]); got < least {
					t.Errorf("scheme %d: %s on %s has contrast %.2f, want %.1f", i, name, ground, got, least)
				}
			}
		}
	}
}

// Every colour of a key needs its rule.
func TestKeyRules(t *testing.T) {
	for _, r := range roles[3:] {
		if rule := "." + string(r) + " { --line: var(--" + string(r) + "); }"; !strings.Contains(styleSheet, rule) {
			t.Errorf("the style sheet lacks %q", rule)
		}
	}
}
