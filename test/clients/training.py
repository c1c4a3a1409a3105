"""Trains on emulated devices and on the CPU: training.py ddp|dtensor|fsdp2. The losses are equal, to the last bit where
the sums are the same, and each rank has the same parameters."""
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from ringlet.torch import HostCompute

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEPS, BATCH, WIDTH = 10, 16, 32


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.LayerNorm(WIDTH), torch.nn.GELU(),
                               torch.nn.Linear(WIDTH, 1))


def batches():
    generator = torch.Generator().manual_seed(1)
    for _ in range(STEPS):
        yield torch.randn(BATCH * size, WIDTH, generator=generator)


def train(network, batches_of_rank):
    """The losses, step by step."""
    optimizer = torch.optim.AdamW(network.parameters(), 0.01)
    losses = []
    for inputs in batches_of_rank:
        optimizer.zero_grad()
        loss = ((network(inputs).squeeze(1) - inputs.sum(1)) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def mean_over_ranks(losses):
    together = torch.stack(losses)
    dist.all_reduce(together, dist.ReduceOp.AVG)
    return [value.item() for value in together.cpu()]


def own_part(inputs):
    return inputs[rank * BATCH:(rank + 1) * BATCH].cuda()


def data_parallel():
    network = DistributedDataParallel(model().cuda(), device_ids=[rank])
    return mean_over_ranks(train(network, map(own_part, batches())))


def fully_sharded():
    from torch.distributed.fsdp import fully_shard
    network = model().cuda()
    for layer in (network[0], network[3]):
        fully_shard(layer)
    fully_shard(network)
    return mean_over_ranks(train(network, map(own_part, batches())))


def tensor_parallel():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cuda", (size,))
    network = torch.nn.Sequential(*[layer for i, layer in enumerate(model().cuda()) if i != 1])
    parallelize_module(network, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    assert isinstance(network[0].weight, DTensor)
    return mean_over_ranks(train(network, (inputs.cuda() for inputs in batches())))


def on_the_cpu(normalized):
    layers = model()
    if not normalized:
        layers = torch.nn.Sequential(*[layer for i, layer in enumerate(layers) if i != 1])
    return [loss.item() for loss in train(layers, batches())]


kind = sys.argv[1]
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
with HostCompute():
    losses = {"ddp": data_parallel, "fsdp2": fully_sharded, "dtensor": tensor_parallel}[kind]()
expected = on_the_cpu(normalized=kind != "dtensor")
for found, wanted in zip(losses, expected):
    assert abs(found - wanted) <= 1e-4 * abs(wanted), (losses, expected)
assert losses[-1] < losses[0]
difference = max(abs(a - b) for a, b in zip(losses, expected))
dist.destroy_process_group()
print(f"rank {rank} of {size}: {kind}: {STEPS} losses are the CPU's within {difference:.1e}, "
      f"{losses[0]:.4f} to {losses[-1]:.4f}", flush=True)
