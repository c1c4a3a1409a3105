#!/usr/bin/env python3
"""Times all_reduce of NumPy arrays with ringlet.Communicator, and with mpi4py for comparison.

    python bench/python_api.py [--rounds N] NAME=PYTHON[:LAUNCHER...] ...

Each NAME is a side: "ringlet", or any other name for mpi4py in the environment of PYTHON, with the
words that start two ranks. Each rank runs on a core of its own. Rounds of the sides alternate. A
round runs batches of calls; its time is the mean of the fastest batch, so that other programs
disturb less. Prints one line per side and size: the median of the rounds, and the fastest and
slowest round.

    python bench/python_api.py ringlet=a/bin/python open-mpi=b/bin/python:b/bin/mpirun:-n:2 mpich=...
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

SIZES = {8: 2_000, 8 << 20: 10}  # bytes, calls per batch
BATCHES = 15


def measure(all_reduce, barrier, rank):
    """Returns microseconds per call for each size."""
    import numpy

    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    found = {}
    for size, calls in SIZES.items():
        send, recv = numpy.ones(size // 8), numpy.empty(size // 8)
        batches = []
        for _ in range(BATCHES):
            barrier()
            begin = time.perf_counter()
            for _ in range(calls):
                all_reduce(send, recv)
            batches.append((time.perf_counter() - begin) / calls * 1e6)
        found[size] = min(batches)
        assert (recv == 2).all()
    return found


def rank(arguments):
    """Prints the times of one round on rank 0."""
    if arguments:
        import ringlet

        comm = ringlet.Communicator.from_file(arguments[0], int(arguments[1]), 2)
        found, number = measure(comm.all_reduce, comm.barrier, comm.rank), comm.rank
        comm.close()
    else:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
        found, number = measure(comm.Allreduce, comm.Barrier, comm.rank), comm.rank
    if number == 0:
        print(*found.values())


def run(name, python, launcher):
    """Returns the times of one round of a side."""
    program = [python, __file__, "--rank"]
    with tempfile.TemporaryDirectory() as folder:
        commands = ([[*program, os.path.join(folder, "id"), str(each)] for each in range(2)] if name == "ringlet"
                    else [[*launcher, *program]])
        started = [subprocess.Popen(each, stdout=subprocess.PIPE, text=True) for each in commands]
        outputs = [each.communicate(timeout=600)[0] for each in started]
    if any(each.returncode for each in started):
        sys.exit(f"{name}: a rank failed")
    return [float(word) for word in outputs[0].split()]


def main():
    if sys.argv[1:2] == ["--rank"]:
        return rank(sys.argv[2:])
    parser = argparse.ArgumentParser(description="Times all_reduce of Ringlet and mpi4py on two ranks.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("sides", nargs="+", metavar="NAME=PYTHON[:LAUNCHER...]")
    given = parser.parse_args()
    sides = [(name, *words.split(":", 1)) for name, words in (side.split("=", 1) for side in given.sides)]
    rounds = {side[0]: [] for side in sides}
    for _ in range(given.rounds):
        for name, python, *launcher in sides:
            rounds[name].append(run(name, python, launcher[0].split(":") if launcher else []))
    for index, size in enumerate(SIZES):
        for name, times in rounds.items():
            every = sorted(each[index] for each in times)
            rate = f", {size / statistics.median(every) / 1e3:.2f} GB/s" if size > 1000 else ""
            print(f"{name:10} {size:8} B  {statistics.median(every):9.2f} us ({every[0]:.2f} to {every[-1]:.2f}){rate}")


if __name__ == "__main__":
    main()
