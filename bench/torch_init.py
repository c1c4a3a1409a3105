"""Measures init_process_group and the first all-reduce, on Ringlet and on Gloo in turn.

    python bench/torch_init.py [--processes 2,4,8,16,32,64] [--stores tcp,file] [--runs 9]
    python bench/torch_init.py --json bench/results/DATE-MACHINE-pytorch-init.json

All processes are forks of one with torch loaded, so the time excludes imports. They begin together
after all have connected to the store, because with any backend a connection without an immediate
answer is retried only after seconds. The time of a run is the slowest rank's. The table shows
minima of the runs, and medians beside them. Without --json it prints the same table.
"""

import multiprocessing
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist

import ringlet
import torch_results

ringlet.ops  # loads the extension before the forks, like Gloo

BACKENDS = ("ringlet", "gloo")


def member(backend, rank, size, store_of, barrier, times):
    torch.set_num_threads(1)
    store = store_of()
    barrier.wait()
    begin = time.perf_counter()
    dist.init_process_group(backend, store=store, rank=rank, world_size=size)
    formed = time.perf_counter()
    one = torch.ones(1)
    dist.all_reduce(one)
    times[rank] = time.perf_counter() - begin
    assert one.item() == size
    barrier.wait()
    dist.destroy_process_group()


def run(backend, size, kind):
    """Returns the seconds until the slowest rank has its first sum."""
    context = multiprocessing.get_context("fork")
    port, served = context.Value("i", 0), context.Event()
    barrier, times = context.Barrier(size), context.Array("d", size)
    with tempfile.TemporaryDirectory() as folder:

        def store_of():
            if kind == "file":
                return dist.FileStore(os.path.join(folder, "store"), size)
            served.wait()
            return dist.TCPStore("127.0.0.1", port.value, wait_for_workers=False)

        members = [
            context.Process(target=member, args=(backend, rank, size, store_of, barrier, times))
            for rank in range(size)
        ]
        for process in members:
            process.start()
        if kind == "tcp":
            # Start it after the forks, because its thread could hold a C library lock in them.
            server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
            port.value = server.port
            served.set()
        for process in members:
            process.join()
            assert process.exitcode == 0, f"a process of {backend} failed"
    return max(times)


def measure(size, kind, runs):
    """Returns the milliseconds of each backend, run by run. The backends take turns."""
    times = {backend: [] for backend in BACKENDS}
    for _ in range(runs):
        for backend, list_ in times.items():
            list_.append(run(backend, size, kind) * 1e3)
    return times


def row_of(size, kind, times):
    cells = [round(f(times[backend]), 2) for backend in BACKENDS for f in (min, statistics.median)]
    return [f"{size} processes", {"tcp": "TCPStore", "file": "FileStore"}[kind], *cells]


COLUMNS = ["", "store", "Ringlet, ms", "its median", "Gloo, ms", "its median"]


def main():
    parser = torch_results.parser_of(__doc__, "2,4,8,16,32,64", 9)
    parser.add_argument("--stores", default="tcp,file", help="list of tcp and file")
    options = parser.parse_args()
    rows = []
    print("  ".join(f"{c:>12}" for c in COLUMNS))
    for kind in options.stores.split(","):
        for size in map(int, options.processes.split(",")):
            rows.append(row_of(size, kind, measure(size, kind, options.runs)))
            print("  ".join(f"{c:>12}" for c in rows[-1]), flush=True)
    torch_results.write(
        options,
        what="PyTorch: a process group, to the end of its first all-reduce",
        order=31,
        command="python bench/torch_init.py " + " ".join(sys.argv[1:]),
        note=[
            "All processes are forked from one that has imported torch. The time is the slowest rank's, "
            f"from init_process_group to its first sum; the least of {options.runs} runs, which took "
            "turns, and their median."],
        tables=[{"title": "Milliseconds", "columns": COLUMNS, "rows": rows}])


if __name__ == "__main__":
    main()
