"""Tests over the C API what the others see if a rank is late, stops, leaves, or dies with a child.

    late_test.py BUILD [-v]
"""
import array
import os
import pathlib
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import odd_rank  # noqa: E402


class CApi:
    def join(self, rank, folder, limit_s):
        os.environ.update(RINGLET_TIMEOUT=str(limit_s), RINGLET_INIT_TIMEOUT=str(limit_s))
        import ringlet

        self.comm = ringlet.Communicator.from_file(os.path.join(folder, "id"), rank, odd_rank.SIZE, timeout=limit_s)

    def sum(self, value):
        return self.comm.all_reduce(array.array("f", [value]), array.array("f", [0]))[0]

    def leave(self):
        self.comm.close()


class OverC(odd_rank.OddRank):
    api = CApi


del odd_rank.OddRank  # unittest would run it by itself

if __name__ == "__main__":
    unittest.main()
