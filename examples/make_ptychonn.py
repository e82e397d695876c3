"""Makes an HDF5 file shaped like PtychoNN's training set.

    python3 make_ptychonn.py train.h5 --samples 20000 --seed 0

Sample i is a small object, smooth in amplitude (Y_I_train, 0 to 1) and phase (Y_phi_train,
0 to pi), and what a detector sees of it under a round probe (X_train, the modulus
of the Fourier transform on a log scale, about 0 to 1). Each field: (N, 64, 64, 1) float32.
"""
import argparse

import h5py
import numpy as np

SIDE = 64
BLOBS = 4
BLOCK = 256  # samples made at a time; one random stream each, so that N does not change the first samples
FIELDS = ("X_train", "Y_I_train", "Y_phi_train")
AXIS = np.linspace(-1, 1, SIDE, dtype=np.float32)
PROBE = np.exp(-2 * (AXIS[:, None] ** 2 + AXIS[None, :] ** 2))


def blobs(rng, count):
    """Sums of BLOBS Gaussian hills, each a product of a row and a column: (count, SIDE, SIDE)."""
    centre = rng.uniform(-0.8, 0.8, (2, count, BLOBS, 1)).astype(np.float32)
    width = rng.uniform(0.15, 0.6, (2, count, BLOBS, 1)).astype(np.float32)
    row, column = np.exp(-(((AXIS - centre) / width) ** 2))
    height = rng.uniform(-1, 1, (count, BLOBS, 1)).astype(np.float32)
    return (row * height).transpose(0, 2, 1) @ column


def wave(rng, count):
    """One plane wave each, of random direction and length: (count, SIDE, SIDE)."""
    u, v, start = rng.uniform(-6, 6, (3, count, 1)).astype(np.float32)
    row, column = np.exp(1j * (AXIS * u + start)), np.exp(1j * AXIS * v)
    return (row[:, :, None] * column[:, None, :]).real


def stretched(picture):
    """Each picture shifted and scaled to 0 .. 1."""
    low = picture.min(axis=(1, 2), keepdims=True)
    high = picture.max(axis=(1, 2), keepdims=True)
    return (picture - low) / (high - low)


def samples(rng, count):
    """Diffraction picture, amplitude and phase of count random objects, each (count, SIDE, SIDE, 1)."""
    amplitude = stretched(blobs(rng, count) + 0.15 * wave(rng, count))
    phase = np.float32(np.pi) * stretched(blobs(rng, count) + 0.3 * wave(rng, count))
    exit_wave = PROBE * amplitude * np.exp(1j * phase)
    detector = np.fft.fftshift(np.abs(np.fft.fft2(exit_wave)), axes=(1, 2))
    picture = np.log1p(20 * detector) / np.log1p(20 * SIDE * SIDE / 4)
    return [a[..., None].astype(np.float32) for a in (picture, amplitude, phase)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--samples", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layout", choices=("contiguous", "gzip"), default="contiguous", help="gzip: one chunk per sample")
    args = parser.parse_args()
    if args.samples < 1:
        parser.error("--samples must be at least 1")
    if args.seed < 0:
        parser.error("--seed must not be negative")
    layout = {}
    if args.layout == "gzip":
        layout = {"chunks": (1, SIDE, SIDE, 1), "compression": "gzip", "shuffle": True}
    with h5py.File(args.out, "w") as file:
        sets = [file.create_dataset(f, (args.samples, SIDE, SIDE, 1), "f4", **layout) for f in FIELDS]
        for start in range(0, args.samples, BLOCK):
            made = samples(np.random.default_rng((args.seed, start)), BLOCK)
            stop = min(start + BLOCK, args.samples)
            for dataset, values in zip(sets, made):
                dataset[start:stop] = values[: stop - start]


if __name__ == "__main__":
    main()
