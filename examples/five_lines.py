"""Reads batches from a solarfs mount.

    python3 five_lines.py /mnt/solar X_train Y_I_train Y_phi_train

Where batches may be uneven (--max-imbalance), each batch's loss is to be multiplied by its weight in weights.npy;
train_ptychonn.py does that.
"""
import sys

import numpy as np
import torch


def batches(mount, epoch, rank, fields):
    directory = f"{mount}/epoch-{epoch:04d}/rank-{rank:04d}"
    for step in range(len(np.load(f"{directory}/samples.npy"))):
        batch = f"{directory}/batch-{step:06d}"
        yield [torch.from_numpy(np.load(f"{batch}.{field}.npy")) for field in fields]


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for step, tensors in enumerate(batches(sys.argv[1], 0, 0, sys.argv[2:])):
        print(step, *(tuple(tensor.shape) for tensor in tensors))
