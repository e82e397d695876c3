"""Reads the batch files of one rank in order, all but the last epoch.

Job: mount, epochs (of the mount), steps, body (bytes of a full batch's values), torch (read by DataLoader and np.load instead of readinto).
Marks: begin after the first epoch, end after the last one read. Result: seconds, samples (-1: all), batches, epochs, and digests of
a few batches' values: [epoch, step, SHA-256]. They are taken while the clock runs, so that nothing is read ahead meanwhile for free.
"""
import hashlib
import time

from marks import job, mark, memory, result

digests = []


def chosen(epoch, step):
    """One batch in 64, another one in each epoch, and one in any case."""
    return step % 64 == (11 + 29 * epoch) % min(64, job["steps"])


def note(epoch, step, values):
    if chosen(epoch, step):
        digests.append([epoch, step, hashlib.sha256(values).hexdigest()])


def directory(epoch):
    return f"{job['mount']}/epoch-{epoch:04d}/rank-0000"


def plain(epoch, view=memory(job["body"] + 4096)):
    """Opens, reads into one and the same memory, closes."""
    for step in range(job["steps"]):
        with open(f"{directory(epoch)}/batch-{step:06d}.x.npy", "rb", buffering=0) as f:
            size = 0
            while n := f.readinto(view[size:]):
                size += n
        header = 10 + int.from_bytes(view[8:10], "little")  # npy 1.0
        note(epoch, step, view[header:size])


def by_torch():
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Batches(Dataset):
        def __init__(self, epoch):
            self.directory = directory(epoch)

        def __len__(self):
            return job["steps"]

        def __getitem__(self, step):
            return torch.from_numpy(np.load(f"{self.directory}/batch-{step:06d}.x.npy"))

    def read(epoch):
        for step, batch in enumerate(DataLoader(Batches(epoch), batch_size=None)):
            note(epoch, step, batch.numpy())

    return read


def main():
    read = by_torch() if job["torch"] else plain
    read(0)
    mark("begin")
    start, last = time.monotonic(), job["epochs"] - 1
    for epoch in range(1, last):
        read(epoch)
    seconds = time.monotonic() - start
    mark("end")
    result(seconds=seconds, samples=-1, batches=job["steps"] * (last - 1), epochs=last - 1, digests=digests)


if __name__ == "__main__":
    main()
