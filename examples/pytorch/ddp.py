"""Trains a small model with DistributedDataParallel, and prints the time of an iteration.

    torchrun --nproc-per-node 2 ddp.py --backend ringlet
    mpirun -n 2 python3 ddp.py                              # as srun or an Indexed Job of Kubernetes

Each rank reads its share of the data by a DistributedSampler. With the same seed and number of
ranks the losses do not depend on the backend, except for the order of the gradients' sums.
"""

import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class TinyModel(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(16, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.layers(x)


def made_up_data(samples):
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(samples, 16, generator=generator)
    return TensorDataset(inputs, inputs.pow(2).sum(1, keepdim=True).sqrt())


def train(options):
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(2)
    model = DistributedDataParallel(TinyModel(options.width))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = made_up_data(options.samples)
    sampler = DistributedSampler(data, size, rank, seed=3)
    loader = DataLoader(data, batch_size=options.batch, sampler=sampler)
    losses, seconds = [], []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for inputs, wanted in loader:
            begin = time.perf_counter()
            loss = nn.functional.mse_loss(model(inputs), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seconds.append(time.perf_counter() - begin)
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        losses.append((total[0] / total[1]).item())
        if rank == 0 and not options.json:
            print(f"epoch {epoch}: mean loss {losses[-1]:.6f}", flush=True)
    return losses, seconds[len(seconds) // 10 :]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--width", type=int, default=64, help="of the hidden layers")
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    if "RANK" not in os.environ:  # not from torchrun
        import ringlet
        ringlet.from_launcher()
    dist.init_process_group(options.backend)
    losses, seconds = train(options)
    if dist.get_rank() == 0:
        median = statistics.median(seconds)
        if options.json:
            result = {"backend": options.backend, "losses": losses, "iteration_s": median}
            print(json.dumps(result), flush=True)
        else:
            print(f"{options.backend}, {dist.get_world_size()} ranks: {1 / median:.0f} iterations/s")
    dist.barrier()  # together: on Gloo a process sometimes aborts after the exit of a peer
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
