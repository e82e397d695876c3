package main

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/urfave/cli/v2"
)

// count is a number with its word: "1 node", "2 nodes".
func count(n int, word string) string { return fmt.Sprint(n, " ", english.PluralWord(n, word, "")) }

// bytesText is a size as people read it: "1.5 GiB".
func bytesText(n int64) string { return humanize.IBytes(uint64(n)) }

// secondsText is a time as people read it: "1m34s", "9.26s", "180µs".
func secondsText(s float64) string {
	d := time.Duration(min(s, 1e9) * float64(time.Second))
	for _, digits := range []time.Duration{time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
		if d < 1000*digits {
			return d.Round(digits).String()
		}
	}
	return d.Round(time.Second).String()
}

// undefaulted is a number flag whose help shows no default: 0 is none.
type undefaulted struct{ *cli.IntFlag }

func (u undefaulted) GetDefaultText() string { return "" }
func (u undefaulted) String() string         { return cli.FlagStringer(u) }
