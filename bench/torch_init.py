"""Time of init_process_group and the first all-reduce, on Ringlet and on Gloo in turn.

    python bench/torch_init.py [--processes 2,8,16,32]

All processes are forked from one that has torch and holds the store's server, and begin together when
all are connected to it: a connection that is not answered at once is tried again after seconds, whatever
the backend. The time is the slowest rank's; medians of the runs.
"""

import argparse
import multiprocessing
import statistics
import time

import torch
import torch.distributed as dist

import ringlet

ringlet.Options  # the extension is loaded before the forks, as Gloo is


def member(backend, rank, size, port, served, barrier, times):
    torch.set_num_threads(1)
    served.wait()
    store = dist.TCPStore("127.0.0.1", port.value, wait_for_workers=False)
    barrier.wait()
    begin = time.perf_counter()
    dist.init_process_group(backend, store=store, rank=rank, world_size=size)
    one = torch.ones(1)
    dist.all_reduce(one)
    times[rank] = time.perf_counter() - begin
    assert one.item() == size
    barrier.wait()
    dist.destroy_process_group()


def run(backend, size):
    context = multiprocessing.get_context("fork")
    port, served = context.Value("i", 0), context.Event()
    barrier, times = context.Barrier(size), context.Array("d", size)
    members = [
        context.Process(
            target=member, args=(backend, rank, size, port, served, barrier, times))
        for rank in range(size)
    ]
    for process in members:
        process.start()
    # After the forks: its thread could hold a lock of the C library that the children then have.
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    port.value = server.port
    served.set()
    for process in members:
        process.join()
        assert process.exitcode == 0, f"a process of {backend} failed"
    return max(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", default="2,8,16,32")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for size in map(int, options.processes.split(",")):
        times = {"ringlet": [], "gloo": []}
        for _ in range(options.runs):
            for backend, list_ in times.items():
                list_.append(run(backend, size))
        ours, theirs = (statistics.median(times[b]) * 1e3 for b in ("ringlet", "gloo"))
        print(f"{size:>3} processes: ringlet {ours:.1f} ms, gloo {theirs:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
