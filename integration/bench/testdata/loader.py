"""Reads /x of an HDF5 file through torch's DataLoader, in DistributedSampler's order, as training scripts do.

Job: file, batch (samples), workers, first (batches read before anything is measured; 0: a whole epoch), seconds (that
the measured part should take), epochs (whole ones at most). Marks: first, begin, end. Result: seconds, samples, batches,
and epochs, 0 where an epoch takes longer than the given seconds and only its part was read.
"""
import itertools
import time

import h5py
import torch
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from marks import job, mark, result


class Samples(Dataset):
    def __init__(self, path):
        self.path, self.x = path, None
        with h5py.File(path, "r") as f:
            self.samples = len(f["x"])

    def __len__(self):
        return self.samples

    def __getitem__(self, i):
        if self.x is None:  # in each worker: an open HDF5 file does not survive a fork
            self.x = h5py.File(self.path, "r")["x"]
        return torch.from_numpy(self.x[i])


def take(batches, most=None):
    """Reads so many batches; returns how many, and their samples."""
    read = samples = 0
    for batch in itertools.islice(batches, most):
        read, samples = read + 1, samples + len(batch)
    return read, samples


def part(batches):
    """Measures the batches of one epoch until the time is over."""
    mark("begin")
    start, read, samples = time.monotonic(), 0, 0
    while time.monotonic() < start + job["seconds"]:
        n, s = take(batches, 1)
        if n == 0:
            break
        read, samples = read + n, samples + s
    seconds = time.monotonic() - start
    mark("end")
    result(seconds=seconds, samples=samples, batches=read, epochs=0)


def whole(epoch):
    """Measures whole epochs."""
    mark("begin")
    start, read, samples = time.monotonic(), 0, 0
    for epochs in range(1, job["epochs"] + 1):
        n, s = take(epoch(1 + epochs))
        read, samples = read + n, samples + s
        if time.monotonic() > start + job["seconds"]:
            break
    seconds = time.monotonic() - start
    mark("end")
    result(seconds=seconds, samples=samples, batches=read, epochs=epochs)


def main():
    data, workers = Samples(job["file"]), job["workers"]
    sampler = DistributedSampler(data, num_replicas=1, rank=0, shuffle=True, seed=0)
    loader = DataLoader(data, job["batch"], sampler=sampler, num_workers=workers, persistent_workers=workers > 0)

    def epoch(e):
        sampler.set_epoch(e)
        return iter(loader)

    take(epoch(0), job["first"] or None)
    mark("first")
    # So many that the workers have read ahead what they can.
    batches, warm = epoch(1), min(2 * workers + 2, len(loader) // 2)
    start = time.monotonic()
    take(batches, warm)
    if (time.monotonic() - start) / warm * len(loader) > job["seconds"]:
        part(batches)
    else:
        whole(epoch)


if __name__ == "__main__":
    main()
