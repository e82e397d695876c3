"""Overwrites bytes in the middle of one chunk: spoil.py FILE DATASET ROW; prints the dataset's samples that it breaks."""
import sys

import h5py

path, name, row = sys.argv[1], sys.argv[2], int(sys.argv[3])
with h5py.File(path, "r") as f:
    d = f[name]
    start = row // d.chunks[0] * d.chunks[0]
    chunk = d.id.get_chunk_info_by_coord((start,) + (0,) * (d.ndim - 1))
    print(*range(start, min(start + d.chunks[0], len(d))))
with open(path, "r+b") as f:
    f.seek(chunk.byte_offset + chunk.size // 2)
    old = f.read(4)
    f.seek(chunk.byte_offset + chunk.size // 2)
    f.write(bytes(b ^ 0x5A for b in old))
