"""Runs PyTorch's own suite for distributed backends, on one backend.

    BACKEND=ringlet WORLD_SIZE=3 python suite.py [-v] [TestBackend.test_name ...]

BACKEND is `gloo`, `ringlet`, or `ringlet-as-gloo`. The last one puts Ringlet's process group in the
place of Gloo's, so the tests for Gloo by name run too.
"""
import os
import sys
import tempfile
import unittest

# If CI is set, PyTorch's runner writes reports with a package of its own CI.
os.environ.pop("CI", None)
wanted = os.environ.setdefault("BACKEND", "ringlet")
os.environ.setdefault("SUITE_BACKEND", wanted)
if os.environ["SUITE_BACKEND"] == "ringlet-as-gloo":
    os.environ.update(BACKEND="gloo", RINGLET_AS_GLOO="1")
os.environ.setdefault("WORLD_SIZE", "3")
os.environ.setdefault("TEMP_DIR", tempfile.mkdtemp(prefix="ringlet_suite_"))
for name in ("barrier", "test_dir", "init_dir"):
    os.makedirs(os.path.join(os.environ["TEMP_DIR"], name), exist_ok=True)

import torch  # noqa: E402
import torch.distributed.distributed_c10d as c10d  # noqa: E402
import torch.testing._internal.common_distributed as common  # noqa: E402

if os.environ["BACKEND"] == "ringlet":
    for feature in ("ddp", "subgroup"):
        common.DistTestCases.backend_feature[feature].add("ringlet")

import torch.testing._internal.distributed.distributed_test as suite  # noqa: E402
from torch.testing._internal.common_utils import run_tests  # noqa: E402

if os.environ["BACKEND"] == "ringlet":
    suite.PROFILING_SUPPORTED_BACKENDS.append("ringlet")
    suite.SEND_RECV_PROFILING_SUPPORTED_BACKENDS.append("ringlet")


class TestBackend(suite.TestDistBackend, suite.DistributedTest._DistTestBase):
    def setUp(self):
        super().setUp()
        # Forked, not spawned as in PyTorch's own runs: importing torch anew in each process of each
        # test takes longer than the tests.
        self._start_processes(torch.multiprocessing.get_context("fork").Process)


if os.environ["SUITE_BACKEND"] != "gloo":
    TestBackend.test_ddp_logging_data_cpu = unittest.skip(
        "PyTorch calls all plug-ins 'custom' in DDP's log, and reads Gloo's threads from any 'gloo'"
    )(TestBackend.test_ddp_logging_data_cpu)


if __name__ == "__main__":
    run_tests()
