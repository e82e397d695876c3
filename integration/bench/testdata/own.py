"""Prints the bytes of its own that a process has after it has imported what the DataLoader's reader imports."""
import h5py
import torch.utils.data

with open("/proc/self/status") as f:
    print(next(int(line.split()[1]) << 10 for line in f if line.startswith("RssAnon")))
