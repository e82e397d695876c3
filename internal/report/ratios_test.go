package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func someRatios(values ...float64) Ratios {
	g := RatioGroup{Name: "a <b>"}
	for i, v := range values {
		g.Bars = append(g.Bars, RatioBar{Name: "bar " + string(rune('a'+i)), Value: v, Ours: i%2 == 1})
	}
	return Ratios{Title: "ratios & more", Groups: []RatioGroup{g, g}}
}

// What is drawn is XML, names every bar with its value, and has no colour that a scheme cannot change.
func TestRatios(t *testing.T) {
	var out strings.Builder
	if err := WriteRatios(&out, someRatios(.03, 1, 12.34)); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(out.String())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"bar a", "bar b", "bar c", ">0.03<", ">1<", ">12.3<", ">10x<", "a &lt;b&gt;", "prefers-color-scheme: dark", "fill:var(--loads)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not drawn", want)
		}
	}
	if strings.Contains(out.String(), "rgb(") {
		t.Error("a colour is fixed")
	}
}

func TestRatiosRefused(t *testing.T) {
	for _, r := range []Ratios{{}, someRatios(0), someRatios(-1), someRatios(math.NaN()), someRatios(math.Inf(1))} {
		if err := WriteRatios(io.Discard, r); err == nil {
			t.Errorf("%+v was drawn", r)
		}
	}
}
