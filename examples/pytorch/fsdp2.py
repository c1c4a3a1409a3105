"""Trains a model whose parameters are sharded over the ranks (FSDP2), on CPUs.

    torchrun --nproc-per-node 2 fsdp2.py --backend ringlet
"""

import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(1)
    model = nn.Sequential(*(nn.Linear(64, 64) for _ in range(4)))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    torch.manual_seed(2 + dist.get_rank())
    inputs = torch.randn(32, 64)
    first = last = None
    for _ in range(options.steps):
        loss = nn.functional.mse_loss(model(inputs), inputs)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        last = loss.item()
        first = last if first is None else first
    if dist.get_rank() == 0:
        local = sum(p.to_local().numel() for p in model.parameters())
        whole = sum(p.numel() for p in model.parameters())
        print(f"{options.backend}: loss {first:.4f} -> {last:.4f}; {local} of {whole} parameters here")
    assert last < first, "training makes the loss smaller"
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
