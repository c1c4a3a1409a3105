"""Measures operations on Ringlet and on Gloo, in the same processes, in turn; medians of a call's
time.

    torchrun --nproc-per-node 2 bench/torch_operations.py [--largest BYTES]
    torchrun --nproc-per-node 2 bench/torch_operations.py --calls --largest 65536 --seconds 0.3

The time is rank 0's, of a blocking call, with a barrier-like all-reduce before each series.
"Shared" is Ringlet with tensors from ringlet.empty. PyTorch's backend "fake", which does no work,
shows PyTorch's own time for a call. --calls compares the ways to call an all-reduce:
dist.all_reduce, the same with async_op=True and wait() at once, and the operator
torch.ops.ringlet.all_reduce_.
"""

import argparse
import statistics
import time
import warnings

import torch
import torch.distributed as dist
import torch.testing._internal.distributed.fake_pg  # noqa: F401  registers "fake"

import ringlet


def calls(count, size, group, empty=torch.empty):
    """Returns a call of each operation with `count` floats as the larger of its tensors."""
    whole, part = empty(count).fill_(1), empty(max(count // size, 1)).fill_(1)
    other = empty(part.numel() * size).fill_(1)
    received = empty(other.numel())
    return {
        "all_reduce": lambda: dist.all_reduce(whole, group=group),
        "all_gather": lambda: dist.all_gather_into_tensor(other, part, group=group),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, other, group=group),
        "all_to_all": lambda: dist.all_to_all_single(received, other, group=group),
        "broadcast": lambda: dist.broadcast(whole, 0, group=group),
    }


def measure(call, seconds, group, least=5):
    """Returns seconds per call: the median of as many as fit into `seconds`, at least `least`."""
    call()
    begin = time.perf_counter()
    call()
    once = torch.tensor([time.perf_counter() - begin])
    dist.all_reduce(once, dist.ReduceOp.MAX, group=group)
    times = []
    for _ in range(max(least, min(1000, int(seconds / once.item())))):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def ways_to_call(tensor, ours, gloo):
    """Returns all-reduces of one tensor, by name."""
    operator, name = ringlet.ops.all_reduce_.default, ours.group_name
    return {
        "operator": lambda: operator(tensor, name),
        "ringlet": lambda: dist.all_reduce(tensor, group=ours),
        "gloo": lambda: dist.all_reduce(tensor, group=gloo),
        "ringlet async": lambda: dist.all_reduce(tensor, group=ours, async_op=True).wait(),
        "gloo async": lambda: dist.all_reduce(tensor, group=gloo, async_op=True).wait(),
    }


def compare_calls(options, ours, gloo):
    """Prints a line per size: microseconds of each way, the median of its alternating series."""
    for row, bytes_ in enumerate(sizes(options.largest)):
        tensor = torch.zeros(bytes_ // 4)
        ways = ways_to_call(tensor, ours, gloo)
        times = {name: [] for name in ways}
        for _ in range(options.series):
            for name, call in ways.items():
                times[name].append(measure(call, options.seconds, gloo) * 1e6)
        if dist.get_rank() == 0:
            if row == 0:
                print(f"{'bytes':>10}" + "".join(f"{name:>15}" for name in ways))
            print(f"{bytes_:>10}" + "".join(f"{statistics.median(t):>15.1f}" for t in times.values()),
                  flush=True)


def sizes(largest):
    bytes_ = 8
    while bytes_ < largest:
        yield bytes_
        bytes_ *= 8
    yield largest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=64 << 20)
    parser.add_argument("--seconds", type=float, default=0.02, help="of each series")
    parser.add_argument("--series", type=int, default=3)
    parser.add_argument("--calls", action="store_true", help="all_reduce alone, by each way to call it")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)  # the old names exist in all versions
    dist.init_process_group("gloo")
    size = dist.get_world_size()
    ours = dist.new_group(backend="ringlet")
    if options.calls:
        compare_calls(options, ours, dist.group.WORLD)
        dist.destroy_process_group()
        return
    ways = {
        "ringlet": (ours, torch.empty),
        "shared": (ours, ringlet.empty),
        "gloo": (dist.group.WORLD, torch.empty),
    }
    fake = dist.new_group(backend="fake")
    idle = {name: measure(call, options.seconds, None) * 1e6
            for name, call in calls(2, size, fake).items()}
    if dist.get_rank() == 0:
        print("PyTorch itself, us a call: " + "  ".join(f"{n} {t:.1f}" for n, t in idle.items()))
        print(f"{size} processes; us a call, ringlet / shared / gloo")
    for bytes_ in sizes(options.largest):
        cells = []
        for name in idle:
            times = {way: [] for way in ways}
            for _ in range(options.series):
                for way, (group, empty) in ways.items():
                    call = calls(bytes_ // 4, size, group, empty)[name]
                    times[way].append(measure(call, options.seconds, group))
            medians = {way: statistics.median(each) * 1e6 for way, each in times.items()}
            cells.append(f"{name} {medians['ringlet']:.1f}/{medians['shared']:.1f}/{medians['gloo']:.0f}")
        if dist.get_rank() == 0:
            print(f"{bytes_:>9}  " + "  ".join(cells), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
