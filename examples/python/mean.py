"""Computes mean and standard deviation of data that is spread over processes.

    ringlet run -n 4 python mean.py
    mpirun -n 4 python mean.py

It needs neither NumPy nor torch.
"""

import array
import math
import random

import ringlet


def main():
    with ringlet.Communicator.from_launcher() as comm:
        numbers = random.Random(comm.rank)
        own = [numbers.gauss(10, 2) for _ in range(100_000)]

        sums = array.array("d", [len(own), sum(own), sum(value * value for value in own)])
        comm.all_reduce(sums, sums)  # in place; NumPy arrays work in the same way
        count, total, squares = sums
        mean = total / count
        deviation = math.sqrt(squares / count - mean * mean)

        largest = comm.gather_object((max(own), f"rank {comm.rank}"))
        if comm.rank == 0:
            print(f"{count:.0f} numbers on {comm.size} ranks: {mean:.2f} +- {deviation:.2f}")
            print(f"largest: {max(largest)[0]:.2f}, of {max(largest)[1]}")


if __name__ == "__main__":
    main()
