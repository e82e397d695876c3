"""Compares digests of batches with what h5py reads for torch's order.

Job: file, batch (samples), digests ([epoch, step, SHA-256 of the values]). Prints what is wrong and exits 1, or prints "ok".
"""
import hashlib
import sys

import h5py
from torch.utils.data import DistributedSampler

from marks import job


def main():
    if not job["digests"]:
        sys.exit("no batch was looked at")
    with h5py.File(job["file"], "r") as f:
        x = f["x"]
        sampler = DistributedSampler(range(len(x)), num_replicas=1, rank=0, shuffle=True, seed=0)
        for epoch, step, digest in job["digests"]:
            sampler.set_epoch(epoch)
            want = hashlib.sha256()
            for i in list(sampler)[step * job["batch"]:(step + 1) * job["batch"]]:
                want.update(x[i])
            if want.hexdigest() != digest:
                sys.exit(f"epoch {epoch}, step {step} differs from h5py")
    print("ok")


if __name__ == "__main__":
    main()
