"""Measures PyTorch operations on Ringlet and on Gloo in turn: all processes, sizes and loads.

    python bench/torch_grid.py --json bench/results/DATE-MACHINE-pytorch-grid.json
    python bench/torch_grid.py --processes 2 --operations all_reduce,broadcast --largest 65536

Each cell is the time of a blocking call, at rank 0: the minimum of the medians of several series.
The two backends take turns in the same processes. With --loads quiet,busy each cell is measured
twice, the second time beside two processes that compute without end (--busy-loops). The total time
is --minutes: the remaining cells share the remaining time, and a cell with long calls has fewer
series. The program reports each cell on stderr after its measurement. At the end it lists the cells
with Gloo ahead, and exits with 1 for them with --must-win.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import warnings

import torch
import torch.distributed as dist

import ringlet
import torch_results
from torch_operations import calls, measure, sizes

ringlet.Options  # loads the extension before the forks

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast")


def compute(_):
    while True:
        pass


def cell(operation, bytes_, groups, options, seconds):
    """Returns the microseconds of each backend, the minimum median of as many series as fit."""
    size = dist.get_world_size()
    times = {backend: [] for backend in groups}
    begin = time.monotonic()
    for done in range(1, options.series + 1):
        for backend, group in groups.items():
            call = calls(max(bytes_ // 4, 1), size, group)[operation]
            times[backend].append(measure(call, options.seconds, group, least=2) * 1e6)
        elapsed = torch.tensor([time.monotonic() - begin])
        dist.broadcast(elapsed, 0)  # all ranks stop after the same series
        if elapsed.item() * (done + 1) / done > seconds:
            break
    return {backend: round(min(each), 2) for backend, each in times.items()}


def member(rank, size, file, until, options, results):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)  # the old names exist in all versions
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
    groups = {"ringlet": dist.new_group(backend="ringlet"), "gloo": dist.group.WORLD}
    left = len(options.operations) * len(list(sizes(options.largest)))
    for operation in options.operations:
        rows = []
        for bytes_ in sizes(options.largest):
            times = cell(operation, bytes_, groups, options, (until - time.monotonic()) / left)
            left -= 1
            rows.append({"size": bytes_, "time_us": times["ringlet"],
                         "peers": {"Gloo": {"time_us": times["gloo"]}}})
            if rank == 0:
                print(f"{time.monotonic() - options.begun:6.0f} s  {size} processes  {operation}  {bytes_} B  "
                      f"{times['ringlet']}/{times['gloo']} us", file=sys.stderr, flush=True)
        if rank == 0:
            results.put((operation, rows))
    dist.destroy_process_group()


def run(size, load, until, options):
    """Returns the runs of one number of processes, in the form of bench/results."""
    context = multiprocessing.get_context("fork")
    busy = [context.Process(target=compute, args=(i,), daemon=True)
            for i in range(options.busy_loops if load == "busy" else 0)]
    results = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "store")
        members = [context.Process(target=member, args=(rank, size, file, until, options, results))
                   for rank in range(size)]
        for process in busy + members:
            process.start()
        try:
            found = [results.get(timeout=options.timeout_s) for _ in options.operations]
            for process in members:
                process.join()
                assert process.exitcode == 0, "a process failed"
        finally:
            for process in busy + members:
                process.kill()
    layout = f"{size} processes" + (f", {options.busy_loops} busy loops beside" if busy else "")
    return [{"op": operation, "ranks": size, "layout": layout, "peers": ["Gloo"], "rows": rows}
            for operation, rows in found]


def show(runs):
    for one in runs:
        cells = "  ".join(f"{row['size']}: {row['time_us']}/{row['peers']['Gloo']['time_us']}"
                          for row in one["rows"])
        print(f"{one['layout']:>36}  {one['op']:>14}  {cells}", flush=True)


def behind(runs):
    return [f"{one['layout']}, {one['op']}, {row['size']} B: "
            f"{row['time_us']} us, Gloo {row['peers']['Gloo']['time_us']}"
            for one in runs for row in one["rows"]
            if row["peers"]["Gloo"]["time_us"] < row["time_us"]]


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", default="2,4,8", help="list of numbers of processes")
    parser.add_argument("--loads", default="quiet,busy", help="list of quiet and busy")
    parser.add_argument("--operations", default=",".join(OPERATIONS), help="list of " + ", ".join(OPERATIONS))
    parser.add_argument("--largest", type=int, default=64 << 20, metavar="BYTES")
    parser.add_argument("--seconds", type=float, default=0.1, help="of each series")
    parser.add_argument("--series", type=int, default=5, help="of each backend and cell")
    parser.add_argument("--minutes", type=float, default=14, help="of everything, about")
    parser.add_argument("--busy-loops", type=int, default=2, metavar="N")
    parser.add_argument("--timeout-s", type=float, default=3600, help="of one operation, all sizes")
    parser.add_argument("--must-win", action="store_true", help="exit 1 if Gloo is ahead in a cell")
    torch_results.add_arguments(parser)
    options = parser.parse_args()
    options.operations = options.operations.split(",")
    for name, known in (("operations", OPERATIONS), ("loads", ("quiet", "busy"))):
        given = getattr(options, name)
        for one in given if isinstance(given, list) else given.split(","):
            if one not in known:
                parser.error(f"--{name}: {one} is none of {', '.join(known)}")
    return options


def main():
    options = arguments()
    print("us a call, Ringlet/Gloo", flush=True)
    runs = []
    options.begun = time.monotonic()
    parts = [(load, int(size)) for load in options.loads.split(",") for size in options.processes.split(",")]
    for done, (load, size) in enumerate(parts):
        now = time.monotonic()
        left_s = options.begun + options.minutes * 60 - now
        runs += run(size, load, now + max(left_s, 0) / (len(parts) - done), options)
        show(runs[-len(options.operations):])
    lost = behind(runs)
    print(f"Gloo is ahead in {len(lost)} cells" + (":" if lost else ""))
    for line in lost:
        print("  " + line)
    torch_results.write(
        options,
        what="PyTorch: operations by processes, sizes and load",
        order=32,
        command="python bench/torch_grid.py " + " ".join(sys.argv[1:]),
        note=["A call as the program sees it, at rank 0: the least median of "
              f"at most {options.series} series, in which both backends took turns in the same processes; of fewer "
              "where a call takes long."],
        runs=runs)
    return 1 if lost and options.must_win else 0


if __name__ == "__main__":
    sys.exit(main())
