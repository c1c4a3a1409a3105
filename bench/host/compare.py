#!/usr/bin/env python3
"""Operations with a block per rank, in bytes of one rank. They use smaller sizes, or the buffers of
eight ranks fill the machine.
"""
import statistics
import subprocess
import sys

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n"]
SIZES = "8,64,1024,4096,32768,131072,2097152,33554432,268435456"
# Operations with a block per rank, in bytes of one rank. They use smaller sizes, or the buffers of
# eight ranks fill the machine.
EACH = {"all_gather", "reduce_scatter", "all_to_all", "gather", "scatter"}


def run(command):
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    return {int(size): float(time) for size, time in (line.split() for line in lines if line)}


def main(arguments):
    sizes = SIZES
    if "--sizes" in arguments:
        at = arguments.index("--sizes")
        sizes = arguments[at + 1]
        del arguments[at:at + 2]
    folder, ranks, rounds, operations = arguments[0], arguments[1], int(arguments[2]), arguments[3:]
    for operation in operations:
        chosen = [size for size in sizes.split(",")
                  if operation not in EACH or int(size) * int(ranks) <= 128 << 20]
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(run([f"{folder}/ringlet_host_bench", operation, ranks, *chosen]))
            theirs.append(run([*MPIRUN, ranks, f"{folder}/ringlet_host_bench_mpi", operation,
                               *chosen]))
        for size in map(int, chosen):
            mine = statistics.median(round_[size] for round_ in ours)
            other = statistics.median(round_[size] for round_ in theirs)
            print(f"{operation:15} {ranks:>2} ranks {size:>10} B {mine:12.2f} us"
                  f" {other:12.2f} us {other / mine:8.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
