"""Tests ringlet.accelerate(): the backend of accelerate's and transformers' process group.

    python trainers.py [-v]
"""
import json
import os
import subprocess
import sys
import unittest

ACCELERATE = """
import json, sys
import ringlet, torch.distributed as dist
from accelerate import Accelerator, InitProcessGroupKwargs
if "untold" not in sys.argv:
    ringlet.accelerate()
    ringlet.accelerate()
named = {"backend": sys.argv[1]} if sys.argv[1] else {}
accelerator = Accelerator(cpu=True, kwargs_handlers=[InitProcessGroupKwargs(**named)])
found = [dist.get_backend(), accelerator.gather(__import__("torch").tensor([accelerator.process_index])).tolist()]
accelerator.print(json.dumps(found))
accelerator.end_training()
"""
TRAINER = """
import json, sys, tempfile
import ringlet, torch.distributed as dist
from transformers import TrainingArguments
ringlet.accelerate()
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, use_cpu=True, ddp_backend=sys.argv[1] or None)
    if arguments.device is not None and dist.get_rank() == 0:
        print(json.dumps([dist.get_backend(), list(range(dist.get_world_size()))]))
dist.barrier()
dist.destroy_process_group()
"""
MADE_AHEAD = "import torch.distributed as dist; dist.init_process_group('ringlet')\n"


def on_two_ranks(program, *words):
    """Returns the findings of rank 0: its backend, and the ranks."""
    ran = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python",
         sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=200, env=os.environ)
    if ran.returncode != 0:
        raise AssertionError(ran.stderr)
    return json.loads(next(line for line in ran.stdout.splitlines() if line.startswith('["')))


class Trainers(unittest.TestCase):
    def test_accelerate_uses_the_given_backend(self):
        self.assertEqual(on_two_ranks(ACCELERATE, "ringlet"), ["ringlet", [0, 1]])

    def test_other_backends_are_unaffected(self):
        self.assertEqual(on_two_ranks(ACCELERATE, "gloo"), ["gloo", [0, 1]])
        self.assertEqual(on_two_ranks(ACCELERATE, ""), ["gloo", [0, 1]])

    def test_an_existing_group_is_used(self):
        self.assertEqual(on_two_ranks(MADE_AHEAD + ACCELERATE, "", "untold"), ["ringlet", [0, 1]])

    def test_the_trainer_uses_the_given_backend(self):
        self.assertEqual(on_two_ranks(TRAINER, "ringlet"), ["ringlet", [0, 1]])
        self.assertEqual(on_two_ranks(TRAINER, "gloo"), ["gloo", [0, 1]])


if __name__ == "__main__":
    unittest.main()
