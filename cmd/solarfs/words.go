package main

import (
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/urfave/cli/v2"
)

// count is a number with its word: "1 node", "2 nodes".
func count(n int, word string) string { return fmt.Sprint(n, " ", english.PluralWord(n, word, "")) }

// bytesText is a size as people read it: "1.5 GiB".
func bytesText(n int64) string { return humanize.IBytes(uint64(n)) }

// undefaulted is a number flag whose help shows no default: 0 is none.
type undefaulted struct{ *cli.IntFlag }

func (u undefaulted) GetDefaultText() string { return "" }
func (u undefaulted) String() string         { return cli.FlagStringer(u) }
