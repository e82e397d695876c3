// Command reader reads blocks of a file, several at a time, and prints the seconds
// that it took: reader PATH DEPTH SIZE BLOCKS. Of the blocks of SIZE bytes, none is
// near the one before.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load is what is read.
type load struct {
	path                string
	depth, size, blocks int // reads at a time, bytes of each, number of all
}

func main() {
	var l load
	_, err := fmt.Sscan(strings.Join(os.Args[1:], "\n"), &l.path, &l.depth, &l.size, &l.blocks)
	var took time.Duration
	if err == nil {
		took, err = l.read()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reader:", err)
		os.Exit(1)
	}
	fmt.Println(took.Seconds())
}

func (l load) read() (time.Duration, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	runtime.GOMAXPROCS(l.depth) // none that reads waits for another's processor
	const stride = 7919         // a prime
	inFile := info.Size() / int64(l.size)
	errs := make([]error, l.depth)
	var next atomic.Int64
	var readers sync.WaitGroup
	start := time.Now()
	for r := range l.depth {
		readers.Go(func() {
			block := make([]byte, l.size)
			for i := next.Add(1); i <= int64(l.blocks) && errs[r] == nil; i = next.Add(1) {
				_, errs[r] = f.ReadAt(block, i*stride%inFile*int64(l.size))
			}
		})
	}
	readers.Wait()
	return time.Since(start), errors.Join(errs...)
}
