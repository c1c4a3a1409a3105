"""Tests over PyTorch what the others see if a rank is late, stops, leaves, or dies with a child.

    python late.py [-v]
"""
import os
import pathlib
import sys
import unittest
from datetime import timedelta

import torch
import torch.distributed as dist

import ringlet  # noqa: F401  registers the backend

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

import odd_rank  # noqa: E402


class Torch:
    def join(self, rank, folder, limit_s):
        torch.set_num_threads(1)
        dist.init_process_group("ringlet", init_method="file://" + os.path.join(folder, "store"), rank=rank,
                                world_size=odd_rank.SIZE, timeout=timedelta(seconds=limit_s))

    def sum(self, value):
        tensor = torch.tensor([value])
        dist.all_reduce(tensor)
        return tensor.item()

    def leave(self):
        dist.destroy_process_group()


class OverTorch(odd_rank.OddRank):
    api = Torch


del odd_rank.OddRank  # unittest would run it by itself

if __name__ == "__main__":
    unittest.main()
