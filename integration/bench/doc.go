// Command bench measures solarfs beside its peers on the same storage and data in one run, and writes a table, JSON and a chart.
//
// # Words
//
// A system is what brings samples to a training script: solarfs, DataLoader, DataLoader through rclone; or what bounds all of them, a
// program that only reads. A storage is where the data lie: a slow store (package slowfs), the page cache, or the machine's disk,
// throttled by a cgroup. A data set is an HDF5 file of a layout. A row is one system on one storage and data set, perhaps with
// buffers for a share of the set.
//
// # What is measured
//
// The second and later epochs. A system too slow for whole ones is measured for some seconds, and the row says so. solarfs plans an
// epoch more than is read, so that it is as far ahead of its reader at the end as at the beginning. Processor time is that of
// the reader and of a system's daemon, not the storage's.
//
// A row of solarfs stands only if its mount loaded what the plan says, in the plan's order, and if some batches of each epoch are what h5py
// reads for torch's order.
package main
