"""Writes HDF5 files of every kind into a directory, with the bytes that each dataset must read as.

manifest.json: [{file, dataset, way, raw, rows}]; raw holds the values in this machine's byte order.
Usage: make.py DIRECTORY SEED
"""
import ctypes
import json
import os
import sys

import h5py
import numpy as np

out = sys.argv[1]
rng = np.random.default_rng(1)
manifest = []
KINDS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def values(shape, dtype, smooth=False):
    dtype = np.dtype(dtype)
    if smooth:  # compresses
        flat = np.arange(np.prod(shape)) // 3 % 100
        return flat.reshape(shape).astype(dtype)
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype.newbyteorder("="), endpoint=True).astype(dtype)


def expect(f, name, way):
    raw = "%s.%s.raw" % (os.path.basename(f.filename), name.replace("/", "."))
    d = f[name]
    a = d[...]
    np.ascontiguousarray(a.astype(a.dtype.newbyteorder("="))).tofile(os.path.join(out, raw))
    manifest.append({"file": os.path.basename(f.filename), "dataset": name, "way": way, "raw": raw, "rows": d.shape[0]})


def add(f, name, a, way, **kw):
    f.create_dataset(name, data=a, **kw)
    expect(f, name, way)


def create(name, **kw):
    return h5py.File(os.path.join(out, name), "w", **kw)


def low(f, name, shape, dtype, chunk, change):
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunk:
        p.set_chunk(chunk)
    change(p)
    t = h5py.h5t.py_create(np.dtype(dtype))
    return h5py.Dataset(h5py.h5d.create(f.id, name.encode(), t, h5py.h5s.create_simple(shape), p))


FILTERS = {
    "none": {},
    "gz": {"compression": "gzip", "compression_opts": 4},
    "sgz": {"compression": "gzip", "shuffle": True},
    "sh": {"shuffle": True},
    "fl": {"fletcher32": True},
    "gzfl": {"compression": "gzip", "fletcher32": True},
    "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
}

with create("plain.h5") as f:
    for k in KINDS:
        for order in "<>":
            add(f, "g/%s%s" % (k, "be" if order == ">" else "le"), values((37, 5, 3), order + k), "direct")
    add(f, "labels", values((41,), "<i8"), "direct")

with create("chunks.h5") as f:
    for fn, kw in FILTERS.items():
        for c in (1, 3, 16, 50):
            add(f, "%s-%d" % (fn, c), values((50, 7, 4), "<f4", c > 1), "direct" if fn == "none" else "decode", chunks=(c, 7, 4), **kw)
        for k in KINDS:
            for order in "<>":
                way = "direct" if fn == "none" else "decode"
                add(f, "%s-%s%s" % (fn, k, "be" if order == ">" else "le"), values((11, 9), order + k), way, chunks=(4, 9), **kw)
    add(f, "many", values((5000, 2), "<i2"), "direct", chunks=(1, 2))
    add(f, "number", values((100,), ">f8"), "decode", chunks=(7,), **FILTERS["all"])
    add(f, "cut", values((20, 8, 6), "<f4"), "h5dread", chunks=(3, 4, 6), compression="gzip")
    add(f, "cutbe", values((20, 8, 6), ">f4"), "h5dread", chunks=(3, 8, 4))
    add(f, "grown", values((20, 6), "<i4"), "direct", chunks=(3, 6), maxshape=(None, None))
    add(f, "wide", values((20, 6), "<i4"), "h5dread", chunks=(3, 8), maxshape=(None, None))

with create("latest.h5", libver="latest") as f:
    a = values((100, 30), "<f4", True)
    add(f, "contig", a, "direct")
    add(f, "single", a, "direct", chunks=(100, 30))
    add(f, "single_gz", a, "decode", chunks=(100, 30), compression="gzip")
    add(f, "fixed", a, "direct", chunks=(16, 30))
    add(f, "fixed_all", a, "decode", chunks=(16, 30), **FILTERS["all"])
    b = values((3000, 4), ">i4", True)
    add(f, "paged", b, "direct", chunks=(1, 4))
    add(f, "paged_gz", b, "decode", chunks=(1, 4), compression="gzip")
    add(f, "ext", a, "h5dread", chunks=(16, 30), maxshape=(None, 30))
    add(f, "ext_gz", a, "h5dread", chunks=(16, 30), maxshape=(None, 30), compression="gzip")
    add(f, "btree2", a, "h5dread", chunks=(16, 30), maxshape=(None, None))
    d = low(f, "implicit", (100, 30), "<f4", (16, 30), lambda p: p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY))
    d[...] = a
    expect(f, "implicit", "direct")
    lib = ctypes.CDLL("libhdf5_serial.so.103")
    lib.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]

    def raw_edge(p):
        p.set_deflate(4)
        assert lib.H5Pset_chunk_opts(p.id, 2) >= 0

    low(f, "raw_edge", (100, 30), "<f4", (16, 30), raw_edge)[...] = a
    expect(f, "raw_edge", "decode")

for libver in ("earliest", "latest"):
    with create("userblock-%s.h5" % libver, libver=libver, userblock_size=512) as f:
        a = values((100, 30), "<f4", True)
        add(f, "contig", a, "direct")
        # libhdf5's own chunk queries leave the user block out; H5Dread_chunk does not.
        add(f, "chunks", a, "direct", chunks=(16, 30))
        add(f, "gz", a, "decode", chunks=(16, 30), compression="gzip")

with create("odd.h5") as f:
    d = f.create_dataset("sparse", (40, 5), ">f4", chunks=(4, 5), compression="gzip", fillvalue=-7.5)
    d[8:12] = 3
    expect(f, "sparse", "h5dread")
    f.create_dataset("unwritten", (10, 3), ">i4", fillvalue=5)
    expect(f, "unwritten", "h5dread")
    d = low(f, "compact", (10, 3), ">i2", None, lambda p: p.set_layout(h5py.h5d.COMPACT))
    d[...] = values((10, 3), ">i2")
    expect(f, "compact", "h5dread")
    a = values((40, 5), "<f4")
    d = f.create_dataset("masked", data=a, chunks=(4, 5), compression="gzip", shuffle=True)
    d.id.write_direct_chunk((8, 0), a[8:12].tobytes(), 3)  # no filter
    import zlib
    d.id.write_direct_chunk((12, 0), zlib.compress(a[12:16].tobytes()), 1)  # no shuffle
    expect(f, "masked", "decode")
    d = f.create_dataset("allmasked", (8, 5), "<f4", chunks=(4, 5), compression="gzip")
    for i in (0, 4):
        d.id.write_direct_chunk((i, 0), a[i:i + 4].tobytes(), 1)
    expect(f, "allmasked", "direct")
    add(f, "scaled", np.arange(60, dtype="<i4").reshape(20, 3), "h5dread", chunks=(4, 3), scaleoffset=0)

for i, n in enumerate((7, 0, 13, 1)):
    with create("part%d.h5" % (i * 5)) as f:
        add(f, "x", values((n, 3, 2), ">f4" if i == 2 else "<f4"), "-", chunks=(4, 3, 2) if n == 13 else None)
        add(f, "y", values((n,), "<i8"), "-")

# Whatever comes together by chance.
dice = np.random.default_rng(int(sys.argv[2]))
for libver in ("earliest", "latest"):
    with create("random-%s.h5" % libver, libver=libver, userblock_size=int(dice.choice([0, 512, 1024]))) as f:
        for i in range(30):
            rank = int(dice.integers(1, 5))
            shape = tuple(int(x) for x in dice.integers(1, 9, rank))
            shape = (int(dice.integers(1, 60)),) + shape[1:]
            kw = {}
            if dice.random() < 0.9:
                whole = dice.random() < 0.8
                kw["chunks"] = tuple(int(dice.integers(1, n + 1)) if not whole or j == 0 else n for j, n in enumerate(shape))
                kw.update(list(FILTERS.values())[int(dice.integers(len(FILTERS)))])
                if dice.random() < 0.3:
                    kw["maxshape"] = tuple(None if dice.random() < 0.5 else n for n in shape)
            dtype = str(dice.choice(["<", ">"])) + str(dice.choice(KINDS))
            add(f, "d%d" % i, values(shape, dtype, dice.random() < 0.5), "any", **kw)

with open(os.path.join(out, "manifest.json"), "w") as f:
    json.dump(manifest, f)
