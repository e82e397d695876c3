"""Trains a small PtychoNN-like network with PyTorch DDP on the CPU, from a solarfs mount or from HDF5.

One process per rank, each told RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT by its environment:

    python3 train_ptychonn.py --loader solarfs --mount /mnt/solar --epochs 3 --out solarfs.json
    python3 train_ptychonn.py --loader h5py --data train.h5 --batch-size 64 --epochs 3 --out h5py.json

Rank 0 writes {"epochs": [{"seconds": s, "samples": n, "losses": [mean over all ranks, per step]}]};
the seconds include loading.
"""
import argparse
import json
import os
import sys
import time

import h5py
import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from five_lines import batches

FIELDS = ("X_train", "Y_I_train", "Y_phi_train")


def solarfs_epochs(args, rank):
    """Per epoch: its batches in their order, and what each batch's loss weighs."""
    for epoch in range(args.epochs):
        weights = np.load(f"{args.mount}/epoch-{epoch:04d}/rank-{rank:04d}/weights.npy")
        yield batches(args.mount, epoch, rank, FIELDS), weights


class Samples(Dataset):
    """The samples of an HDF5 file, opened at the first use in each process."""

    def __init__(self, path):
        self.path, self.file = path, None
        with h5py.File(path, "r") as file:
            self.length = len(file[FIELDS[0]])

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return [self.file[field][index] for field in FIELDS]


def h5py_epochs(args, rank):
    """The same from HDF5: all ranks' batches are equal in size, so the weights are ones."""
    dataset = Samples(args.data)
    sampler = DistributedSampler(dataset, seed=args.seed)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler, num_workers=0)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        yield loader, np.ones(len(loader))


def convolution(inputs, outputs, **options):
    return nn.Conv2d(inputs, outputs, 3, padding=1, **options)


class Network(nn.Module):
    """One encoder of the diffraction picture; two decoders, for amplitude and phase. No layer looks across samples.

    The pictures are folded into channels (4 x 4 pixels at the start, and back at the
    end), since convolutions of few channels over many pixels are slow on a CPU.
    """

    def __init__(self, width=16):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.PixelUnshuffle(4), convolution(16, width), nn.ReLU(),
            convolution(width, 2 * width, stride=2), nn.ReLU(),
            convolution(2 * width, 2 * width), nn.ReLU())
        self.amplitude, self.phase = self.decoder(width), self.decoder(width)

    @staticmethod
    def decoder(width):
        return nn.Sequential(
            convolution(2 * width, 2 * width), nn.ReLU(), nn.PixelShuffle(2),
            convolution(width // 2, 16), nn.PixelShuffle(4))

    def forward(self, pictures):
        code = self.encoder(pictures)
        return self.amplitude(code), self.phase(code)


def train_epoch(model, optimizer, loader, weights):
    """One pass over this rank's batches; returns the samples and, per step, the mean loss over all ranks."""
    samples, losses = 0, []
    for (picture, amplitude, phase), weight in zip(loader, weights.tolist()):
        size = len(picture)
        picture, amplitude, phase = (t.view(size, 1, 64, 64) for t in (picture, amplitude, phase))
        amplitude_guess, phase_guess = model(picture)
        loss = nn.functional.mse_loss(amplitude_guess, amplitude) + nn.functional.mse_loss(phase_guess, phase)
        loss = loss * weight  # DDP averages over ranks; the weight makes that the mean over samples
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        samples += size
        losses.append(loss.detach())
    totals = torch.stack([torch.tensor(float(samples)), *losses]).double()
    dist.all_reduce(totals)
    return int(totals[0]), (totals[1:] / dist.get_world_size()).tolist()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loader", choices=("solarfs", "h5py"), required=True)
    parser.add_argument("--mount", help="this rank's mount point (solarfs)")
    parser.add_argument("--data", help="HDF5 file (h5py)")
    parser.add_argument("--batch-size", type=int, default=64, help="per rank (h5py; a mount has its own)")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of the weights and of DistributedSampler")
    parser.add_argument("--out", help="JSON file that rank 0 writes")
    args = parser.parse_args()
    if args.loader == "solarfs" and not args.mount:
        parser.error("--loader solarfs needs --mount DIR")
    if args.loader == "h5py" and not args.data:
        parser.error("--loader h5py needs --data FILE")
    return args


def main():
    args = parse()
    torch.set_num_threads(1)
    if os.environ.get("MASTER_ADDR") in ("127.0.0.1", "localhost"):
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # a host name that does not resolve must not matter
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(args.seed)
    model = DistributedDataParallel(Network())
    # Not Adam: it scales up the last bits in which sums of other order differ, until the two loss curves part.
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    epochs = solarfs_epochs(args, rank) if args.loader == "solarfs" else h5py_epochs(args, rank)
    report = []
    dist.barrier()
    start = time.perf_counter()
    for epoch, (loader, weights) in enumerate(epochs):
        samples, losses = train_epoch(model, optimizer, loader, weights)
        stop = time.perf_counter()
        report.append({"seconds": stop - start, "samples": samples, "losses": losses})
        start = stop
        if rank == 0:
            print(f"{args.loader}: epoch {epoch}: {report[-1]['seconds']:.1f} s, loss {losses[-1]:.4f}", file=sys.stderr)
    if rank == 0 and args.out:
        with open(args.out, "w") as file:
            json.dump({"epochs": report}, file)
    dist.barrier()
    sys.stderr.flush()
    os._exit(0)  # torch 1.13 can hang in its destructors: they join gloo's threads, which may wait for the GIL


if __name__ == "__main__":
    main()
