"""Trains a small model on the meshes of torchtitan, sharded by FSDP2, and prints the time of a
step.

    torchrun --nproc-per-node 2 torchtitan_fsdp.py --backend ringlet

torchtitan's trainer requires an accelerator. Its meshes (ParallelDims), and the objects built on
them, run on CPUs as well.
"""

import argparse
import json
import statistics
import time

import torch
import torch.distributed as dist
import torchtitan.tools.utils
from torch import nn
from torch.distributed.fsdp import fully_shard

# torchtitan defaults to "cuda" without an accelerator. Set it before the import copies it.
torchtitan.tools.utils.device_type = "cpu"

from torchtitan.distributed import ParallelDims  # noqa: E402


def train(model, options):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses, seconds = [], []
    for _ in range(options.epochs):
        total = torch.zeros(2)
        for _ in range(32):
            inputs = torch.randn(32, 64, generator=generator)
            begin = time.perf_counter()
            loss = nn.functional.mse_loss(model(inputs), inputs.abs())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seconds.append(time.perf_counter() - begin)
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        losses.append((total[0] / total[1]).item())
    return losses, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    size = dist.get_world_size()
    dims = ParallelDims(dp_replicate=1, dp_shard=size, cp=1, tp=1, pp=1, ep=1, world_size=size,
                        spmd_backend="partial_dtensor")  # it has a mesh for FSDP2
    mesh = dims.get_mesh("fsdp")
    torch.manual_seed(1)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(3)), nn.Linear(64, 64))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    losses, seconds = train(model, options)
    if dist.get_rank() == 0:
        found = dist.get_backend(mesh.get_group())
        median = statistics.median(seconds)
        result = {"backend": found, "losses": losses, "step_s": median}
        print(json.dumps(result) if options.json else
              f"{found}, {size} ranks: loss {losses[-1]:.6f}, {1 / median:.0f} steps/s", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
