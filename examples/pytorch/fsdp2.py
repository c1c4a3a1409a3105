"""Trains a small transformer with parameters sharded over the ranks (FSDP2), on CPUs.

    torchrun --nproc-per-node 2 fsdp2.py --backend ringlet
"""

import argparse
import json
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def make_model(options):
    """Returns layers of attention and two linear ones. A rank keeps its share of each."""
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(1)
    model = nn.Sequential(*(
        nn.TransformerEncoderLayer(options.width, nhead=4, dim_feedforward=4 * options.width, dropout=0.0,
                                   batch_first=True)
        for _ in range(options.layers)))  # fmt: skip
    for layer in model:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def train(model, options):
    """Returns the loss of each step, and its seconds."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    torch.manual_seed(2 + dist.get_rank())
    inputs = torch.randn(4, 16, options.width)
    losses, seconds = [], []
    for _ in range(options.steps):
        begin = time.perf_counter()
        loss = nn.functional.mse_loss(model(inputs), inputs)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begin)
    return losses, seconds[len(seconds) // 10 :]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    model = make_model(options)
    losses, seconds = train(model, options)
    if dist.get_rank() == 0:
        local = sum(p.to_local().numel() for p in model.parameters())
        whole = sum(p.numel() for p in model.parameters())
        if options.json:
            result = {"backend": options.backend, "losses": losses, "iteration_s": statistics.median(seconds)}
            print(json.dumps(result), flush=True)
        else:
            print(f"{options.backend}: loss {losses[0]:.4f} -> {losses[-1]:.4f}; "
                  f"{local} of {whole} parameters here; {statistics.median(seconds) * 1e3:.1f} ms a step")
    assert losses[-1] < losses[0], "training makes the loss smaller"
    dist.barrier()  # together: on Gloo a process sometimes aborts after the exit of a peer
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
