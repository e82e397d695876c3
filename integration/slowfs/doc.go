// Package slowfs is slow storage to test and measure on: a read-only mount of a
// directory that answers as a network file system does whose speed is known.
// solarfs and what it is compared with can so read from one same store.
//
// A request is one READ of the kernel, of 1 MiB at most. A store serves a given
// number of them at once; others wait, first come, first served. A served request
// takes the latency and then the time of its bytes, through a pipe that all
// requests have in common: latencies overlap each other and the bytes of others,
// bytes do not, but for a millisecond's worth after the pipe was idle. Answers are
// given in the order of the requests.
//
// Reads go past the page cache and are not read ahead, but for mapped files, whose
// pages the kernel must keep, and which it reads around a fault as it does
// everywhere. Names, attributes and reads past the end of a file take no time and
// are not counted: clients of network file systems know them.
package slowfs
