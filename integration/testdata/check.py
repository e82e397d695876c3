"""Reads a job's mounts as a training script would and compares everything with torch and h5py.

Reads one JSON object from standard input:
  mounts      directory of each node's mount
  data        HDF5 files, in the order in which they are joined
  fields      {name in the mount: dataset path}
  nodes, ranks_per_node, batch_size, epochs, seed, drop_last, order
  max_imbalance   how far a batch may leave its equal share
  visit           which of torch's epochs each epoch is
  read        forward | backward | random | twice | rank0 | workers | mmap
Prints what is wrong and exits 1, or prints "ok".
"""
import io
import json
import multiprocessing
import os
import random
import sys

import h5py
import numpy as np
from torch.utils.data import BatchSampler, DataLoader, Dataset, DistributedSampler

job = json.load(sys.stdin)
world = job["nodes"] * job["ranks_per_node"]


def source():
    fields = {}
    for name, path in job["fields"].items():
        parts = []
        for file in job["data"]:
            with h5py.File(file, "r") as f:
                parts.append(f[path][:])
        joined = np.concatenate(parts)
        fields[name] = joined.astype(joined.dtype.newbyteorder("="))
    return fields


FIELDS = source()
N = len(next(iter(FIELDS.values())))


def wrong(*what):
    print("WRONG:", *what)
    sys.stdout.flush()
    os._exit(1)


def torch_batches(epoch, rank):
    sampler = DistributedSampler(range(N), world, rank, shuffle=job["order"] == "torch", seed=job["seed"], drop_last=job["drop_last"])
    sampler.set_epoch(job["visit"][epoch])
    return list(BatchSampler(sampler, job["batch_size"], job["drop_last"]))


def directory(epoch, rank):
    return f"{job['mounts'][rank // job['ranks_per_node']]}/epoch-{epoch:04d}/rank-{rank:04d}"


def most(share):
    """The rows of the largest batch where each rank's equal share is this."""
    return int(share * (1 + job["max_imbalance"]) + 1e-9)


def check_order(epoch):
    """samples.npy and weights.npy of all ranks against torch's global batches."""
    ours = [np.load(directory(epoch, r) + "/samples.npy") for r in range(world)]
    weights = [np.load(directory(epoch, r) + "/weights.npy") for r in range(world)]
    torchs = [torch_batches(epoch, r) for r in range(world)]
    steps = len(torchs[0])
    for r in range(world):
        if ours[r].shape != (steps, most(job["batch_size"])) or ours[r].dtype != np.int64:
            wrong("samples.npy of rank", r, "is", ours[r].shape, ours[r].dtype, "torch has", steps, "steps")
        if (np.diff((ours[r] < 0).astype(int)) < 0).any() or ours[r].min() < -1:
            wrong("samples.npy of rank", r, "has something else than -1 behind a batch's end")
        if weights[r].shape != (steps,) or weights[r].dtype != np.float64:
            wrong("weights.npy of rank", r, "is", weights[r].shape, weights[r].dtype)
        if len(os.listdir(directory(epoch, r))) != steps * len(FIELDS) + 2:
            wrong("directory of rank", r, "lists", len(os.listdir(directory(epoch, r))), "entries")
    for t in range(steps):
        rows = [o[t][o[t] >= 0] for o in ours]
        sizes, share = [len(row) for row in rows], len(torchs[0][t])
        if max(sizes) > most(share) or min(sizes) < 1 or share - min(sizes) > most(share) - share:
            wrong("epoch", epoch, "step", t, "has batches of", sizes, "torch's have", share)
        if [w[t] for w in weights] != [n * world / (world * share) for n in sizes]:
            wrong("epoch", epoch, "step", t, "has batches of", sizes, "that weigh", [w[t] for w in weights])
        if job["order"] == "block":  # no order of torch's: only each epoch as a whole is known
            continue
        if sorted(np.concatenate(rows).tolist()) != sorted(sum((b[t] for b in torchs), [])):
            wrong("epoch", epoch, "step", t, "holds other samples than torch's")
        if job["nodes"] == 1 and any(row.tolist() != torchs[r][t] for r, row in enumerate(rows)):
            wrong("epoch", epoch, "step", t, "deals torch's samples otherwise on one node")
    seen = np.unique(np.concatenate([o[o >= 0] for o in ours]))
    if not job["drop_last"] and seen.tolist() != list(range(N)):
        wrong("epoch", epoch, "holds", len(seen), "of", N, "samples")
    return ours


def load(path):
    """One open and reads to the end, which must stand where the size says."""
    with open(path, "rb") as file:
        data = file.read()
        if len(data) != os.fstat(file.fileno()).st_size:
            wrong(path, "has", len(data), "bytes and says", os.fstat(file.fileno()).st_size)
    return np.load(io.BytesIO(data))


def check_batch(epoch, rank, step, samples, mmap=None):
    row = samples[step]
    row = row[row >= 0]
    held = []
    for name, values in FIELDS.items():
        path = f"{directory(epoch, rank)}/batch-{step:06d}.{name}.npy"
        array = np.load(path, mmap_mode=mmap) if mmap else load(path)
        want = values[row]
        if array.dtype != want.dtype or array.shape != want.shape or array.tobytes() != want.tobytes():
            wrong(path, "differs from h5py")
        if os.path.getsize(path) != array.nbytes + 64 * ((os.path.getsize(path) - array.nbytes) // 64):
            wrong(path, "has a size that does not fit")
        held.append((array, want))
    return held


class Batches(Dataset):
    """One rank's batches of an epoch, checked in the loader's workers."""

    def __init__(self, epoch, rank, samples):
        self.at = epoch, rank, samples

    def __len__(self):
        return len(self.at[2])

    def __getitem__(self, step):
        epoch, rank, samples = self.at
        check_batch(epoch, rank, step, samples)
        return step


def read_epoch(epoch, rank, samples):
    how, steps = job["read"], list(range(len(samples)))
    if how == "workers":
        if list(DataLoader(Batches(epoch, rank, samples), batch_size=None, num_workers=4)) != steps:
            wrong("the loader lost a batch")
        return
    if how == "backward":
        steps.reverse()
    if how == "random":
        random.Random(epoch * 1000 + rank).shuffle(steps)
    if how == "twice":
        steps = steps + steps
    kept = []
    for step in steps:
        held = check_batch(epoch, rank, step, samples, "r" if how == "mmap" else None)
        if how == "mmap":
            kept = kept[-50:] + held
    for array, want in kept:  # maps of batches that were closed and read past long ago
        if array.tobytes() != want.tobytes():
            wrong("a mapped batch of rank", rank, "has changed under its reader")


def read_rank(rank, orders):
    epochs = range(job["epochs"])
    for epoch in reversed(epochs) if job["read"] == "backward" else epochs:
        read_epoch(epoch, rank, orders[epoch][rank])


def main():
    orders = [check_order(e) for e in range(job["epochs"])]
    ranks = [0] if job["read"] == "rank0" else range(world)
    processes = [multiprocessing.Process(target=read_rank, args=(r, orders)) for r in ranks]
    for p in processes:
        p.start()
    for p in processes:
        p.join()
        if p.exitcode:
            sys.exit("a reader failed")
    print("ok")


if __name__ == "__main__":
    main()
