"""Makes HDF5 files for the tests: make.py LAYOUT N OUT.h5 [OUT2.h5 ...] (N samples over all files).

Fields of different shapes and types: /x (6,5) float32, /group/label int64 scalars, /image (3,) big-endian
uint16. LAYOUT: contiguous, gzip (one sample a chunk, shuffle, fletcher32), gzip7 (7 samples a chunk), chunk4 (4, no filter).
"""
import sys

import h5py
import numpy as np

layout, n, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
rng = np.random.default_rng(n)
x = rng.standard_normal((n, 6, 5)).astype("f4").round(2)
label = rng.integers(-(2**62), 2**62, n)
image = rng.integers(0, 65536, (n, 3)).astype(">u2")


def options(shape):
    per = {"contiguous": None, "gzip": 1, "gzip7": 7, "chunk4": 4}[layout]
    if per is None:
        return {}
    filters = {"compression": "gzip", "shuffle": True, "fletcher32": True} if layout.startswith("gzip") else {}
    return {"chunks": (min(per, shape[0]), *shape[1:]), **filters}


cuts = np.linspace(0, n, len(files) + 1).astype(int)
for path, start, stop in zip(files, cuts, cuts[1:]):
    with h5py.File(path, "w") as f:
        for name, values in (("x", x), ("group/label", label), ("image", image)):
            part = values[start:stop]
            f.create_dataset(name, data=part, **options(part.shape))
        f["note"] = "not a field"
