"""Groups for data parallelism and for tensor parallelism in one job.

    torchrun --nproc-per-node 4 new_groups.py --backend ringlet

Ranks form a grid, data-parallel rows by tensor-parallel columns, once by hand with new_group and
once by a device mesh. Each rank sums over its row and over its column.
"""

import argparse

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh


def by_hand(rank, size, width):
    """Returns this rank's groups. All ranks create all groups, in the same order."""
    mine = {}
    for first in range(0, size, width):
        group = dist.new_group(list(range(first, first + width)))
        if first <= rank < first + width:
            mine["tensor"] = group
    for column in range(width):
        group = dist.new_group(list(range(column, size, width)))
        if rank % width == column:
            mine["data"] = group
    return mine


def sum_over(group):
    ranks = torch.tensor([float(dist.get_rank())])
    dist.all_reduce(ranks, group=group)
    return int(ranks.item())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--tensor-parallel", type=int, default=2)
    options = parser.parse_args()

    dist.init_process_group(options.backend)
    rank, size, width = dist.get_rank(), dist.get_world_size(), options.tensor_parallel
    assert size % width == 0, f"{size} ranks do not form rows of {width}"
    row, column = rank // width * width, rank % width
    wanted = {"tensor": sum(range(row, row + width)), "data": sum(range(column, size, width))}
    for kind, group in by_hand(rank, size, width).items():
        assert sum_over(group) == wanted[kind], kind
    mesh = init_device_mesh("cpu", (size // width, width), mesh_dim_names=("data", "tensor"))
    for kind in wanted:
        assert sum_over(mesh.get_group(kind)) == wanted[kind], kind
    print(f"rank {rank}: sums over its row and column are right", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
