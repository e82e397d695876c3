"""Makes one HDF5 file to measure on: make.py OUT.h5 SAMPLES SIDE CHUNK.

/x is (SAMPLES, SIDE, SIDE) float32: a smooth picture with noise, in whole numbers, which gzip makes about 2.6 times smaller. CHUNK 0 is
contiguous; otherwise gzip level 4 with so many samples a chunk.
"""
import os
import sys

import h5py
import numpy as np

path, samples, side, chunk = sys.argv[1], *(int(a) for a in sys.argv[2:])
rng = np.random.default_rng(side + chunk)
at = np.linspace(0, np.pi, side, dtype="f4")
smooth = 100 * np.outer(np.sin(at), np.sin(2 * at)).astype("f4")
options = {"chunks": (chunk, side, side), "compression": "gzip", "compression_opts": 4} if chunk else {}
block = max(16, (1 << 26) // (4 * side * side) // 16 * 16)  # 64 MiB
with h5py.File(path + ".part", "w") as f:
    x = f.create_dataset("x", (samples, side, side), "f4", **options)
    for start in range(0, samples, block):
        n = min(block, samples - start)
        phase = rng.random((n, 1, 1), dtype="f4")
        x[start:start + n] = np.floor(smooth * phase + 2 * rng.standard_normal((n, side, side), dtype="f4"))
with open(path + ".part", "rb") as f:
    os.fsync(f.fileno())
os.rename(path + ".part", path)
