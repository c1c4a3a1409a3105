"""Runs torchft's own tests of process groups, on ringlet.torchft.ProcessGroupRinglet.

    python torchft_group.py [-v]
"""
import unittest
from datetime import timedelta

import torch
from torchft import process_group_test as theirs
from torchft.process_group import ErrorSwallowingProcessGroupWrapper

from ringlet.torchft import ProcessGroupRinglet

COLLECTIVES = sorted(theirs._COLLECTIVE_TO_FUNC)


class OnRinglet(theirs.MultiPgBaseTest):
    WORLD_SIZE = 3

    @classmethod
    def _create_pg(cls, backend):
        return ProcessGroupRinglet(timeout=timedelta(seconds=30))


class Collectives(OnRinglet):
    def test_collectives_pass_the_tests_of_torchft(self):
        for collective in COLLECTIVES:
            with self.subTest(collective):
                self._run_parallel(collective)


class Resilience(OnRinglet):
    def test_ranks_reform_and_a_departed_rank_blocks_no_other(self):
        for collective in COLLECTIVES:
            with self.subTest(collective):
                self._run_with_resiliency(collective)


class Alone(unittest.TestCase):
    def test_a_group_of_one_rank_works(self):
        store = torch.distributed.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        group = ProcessGroupRinglet()
        group.configure(f"localhost:{store.port}/one", "0", 0, 1)
        self.assertEqual(group.getBackendName(), "torchft-ringlet")
        theirs._test_pg(group)
        group.shutdown()

    def test_a_synchronous_call_returns_a_work_to_wrappers(self):
        # This one waits for the group's result, and takes any exception of it for the group's.
        store = torch.distributed.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        group = ErrorSwallowingProcessGroupWrapper(ProcessGroupRinglet())
        group.configure(f"localhost:{store.port}/one", "0", 0, 1)
        options = torch.distributed.AllreduceOptions()
        options.asyncOp = False
        work = group.allreduce([torch.ones(3)], options)
        work.wait()
        self.assertIsNone(group.error())
        self.assertEqual(work.get_future().wait()[0].tolist(), [1, 1, 1])
        group.shutdown()


if __name__ == "__main__":
    unittest.main()
