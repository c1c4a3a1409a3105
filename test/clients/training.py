"""Trains on emulated devices and on the CPU: training.py ddp|dtensor|fsdp2. Losses and parameters
are the same bits.

On the CPU it is the same program with a process group that adds in the order of ranks. The losses
also equal those of one process without a group, within the rounding of sums in another order.
"""
import os
import sys

# Read by the first communicator: one order of sums, on several NUMA nodes too.
os.environ["RINGLET_NUMA_RANKS"] = "1"

import rank_order_group
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.nn.parallel import DistributedDataParallel

from ringlet.torch import HostCompute

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
STEPS, BATCH, WIDTH = 10, 16, 96
ROUNDING = 1e-6  # relative, for losses: several times the largest one seen


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.LayerNorm(WIDTH), torch.nn.GELU(),
                               torch.nn.Linear(WIDTH, 1))


def without_norm(network):
    return torch.nn.Sequential(*[layer for i, layer in enumerate(network) if i != 1])


def batches():
    generator = torch.Generator().manual_seed(1)
    for _ in range(STEPS):
        yield torch.randn(BATCH * size, WIDTH, generator=generator)


def train(network, batches_of_rank):
    """Returns the losses, step by step."""
    optimizer = torch.optim.AdamW(network.parameters(), 0.01, foreach=True)
    losses = []
    for inputs in batches_of_rank:
        optimizer.zero_grad()
        loss = ((network(inputs).squeeze(1) - inputs.sum(1)) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


class Side:
    """A device and a group to train with."""

    def __init__(self, device, group):
        self.device, self.group, self.mesh = device, group, DeviceMesh.from_group(group, device.type)

    def model(self):
        return model().to(self.device)

    def own_parts(self):
        return (inputs[rank * BATCH:(rank + 1) * BATCH].to(self.device) for inputs in batches())

    def mean_over_ranks(self, losses):
        dist.all_reduce(losses, dist.ReduceOp.AVG, group=self.group)
        return losses


def data_parallel(side):
    ids = [rank] if side.device.type == "cuda" else None
    network = DistributedDataParallel(side.model(), device_ids=ids, process_group=side.group)
    return side.mean_over_ranks(train(network, side.own_parts())), network


def fully_sharded(side):
    from torch.distributed.fsdp import fully_shard
    network = side.model()
    for layer in (network[0], network[3], network):
        fully_shard(layer, mesh=side.mesh)
    return side.mean_over_ranks(train(network, side.own_parts())), network


def tensor_parallel(side):
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    network = without_norm(side.model())
    parallelize_module(network, side.mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    assert isinstance(network[0].weight, DTensor)
    return train(network, (inputs.to(side.device) for inputs in batches())), network


def own_bits(network):
    """Returns this rank's parameters, or its share of them."""
    return [getattr(parameter, "_local_tensor", parameter).detach().cpu() for parameter in network.parameters()]


KINDS = {"ddp": data_parallel, "fsdp2": fully_sharded, "dtensor": tensor_parallel}
kind = sys.argv[1]
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
on_devices = Side(torch.device("cuda", rank), dist.group.WORLD)
on_cpus = Side(torch.device("cpu"), rank_order_group.new_group())
with HostCompute():
    losses, network = KINDS[kind](on_devices)
    losses = losses.cpu()
expected, same_network = KINDS[kind](on_cpus)
assert torch.equal(losses, expected), (losses, expected)
for found, wanted in zip(own_bits(network), own_bits(same_network), strict=True):
    assert torch.equal(found, wanted), (found - wanted).abs().max()
alone = train(without_norm(model()) if kind == "dtensor" else model(), batches())
difference = ((losses - alone).abs() / alone).max().item()
assert difference <= ROUNDING, (losses, alone)
assert losses[-1] < losses[0]
dist.destroy_process_group()
print(f"rank {rank} of {size}: {kind}: {STEPS} losses and the parameters are the CPU's, {losses[0]:.4f} to "
      f"{losses[-1]:.4f}; within {difference:.1e} of one process", flush=True)
