"""Tests help with errors: the log in Python's logging, and TORCH_DISTRIBUTED_DEBUG=DETAIL.

    python debugging.py [-v]
"""
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import ringlet
from ours import on_ranks, the_store
from ringlet._logging import _Log, debug_level, record_of
from ringlet._python_line import python_line

PROGRAM = """
import logging, sys
logging.basicConfig(format="%(levelname)s|%(name)s|%(message)s", stream=sys.stderr)
logging.getLogger(sys.argv[1]).setLevel(sys.argv[2])
import ringlet
ringlet.log_to_logging(None if sys.argv[1] == "ringlet" else logging.getLogger(sys.argv[1]))
import torch, torch.distributed as dist
dist.init_process_group("ringlet", init_method="file://" + sys.argv[3], rank=0, world_size=1)
for _ in range(300):
    dist.all_reduce(torch.ones(1))
dist.destroy_process_group()
"""


class Records(logging.Handler):
    def __init__(self):
        super().__init__()
        self.found = []

    def emit(self, record):
        self.found.append((record.levelno, record.getMessage()))


def logged(name, level, **settings):
    """Returns the lines of standard output, and of the logger."""
    plain = {key: text for key, text in os.environ.items() if not key.startswith(("RINGLET_", "NCCL_"))}
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([sys.executable, "-c", PROGRAM, name, level, f"{folder}/store"],
                             env={**plain, **settings}, capture_output=True, text=True, timeout=100)
    if ran.returncode != 0:
        raise AssertionError(ran.stderr)
    return ran.stdout, [line for line in ran.stderr.splitlines() if f"|{name}|" in line]


class Log(unittest.TestCase):
    def test_lines_are_records_of_the_level_of_the_logger(self):
        written, records = logged("ringlet", "INFO")
        self.assertEqual(written, "")
        self.assertTrue(all(line.startswith("INFO|ringlet|") for line in records), records)
        self.assertIn("Init COMPLETE", records[-1])
        self.assertEqual(logged("mine", "WARNING"), ("", []))
        _, all_lines = logged("mine", "DEBUG", RINGLET_DEBUG_SUBSYS="ALL")
        self.assertGreaterEqual(len(all_lines), len(records))
        self.assertEqual(logged("mine", "DEBUG", RINGLET_DEBUG_SUBSYS="NET"), ("", []))

    def test_settings_of_the_user_apply(self):
        self.assertEqual(logged("ringlet", "INFO", NCCL_DEBUG="WARN"), ("", []))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "log"
            written, records = logged("ringlet", "INFO", RINGLET_DEBUG="INFO", NCCL_DEBUG_FILE=str(file))
            self.assertIn("Init COMPLETE", file.read_text())
        self.assertEqual((written, len(records)), ("", 1))
        self.assertIn("writes its log to the file", records[0])

    def test_each_kind_of_line_has_a_level(self):
        for line, found in (
                ("h:1:2 [0] RINGLET INFO a RINGLET WARN b", (logging.INFO, "h:1:2 [0] a RINGLET WARN b")),
                ("[2026-01-01 00:00:00] h:1:2 a.cpp:3 RINGLET WARN x",
                 (logging.WARNING, "[2026-01-01 00:00:00] h:1:2 a.cpp:3 x")),
                ("h:1:2 RINGLET TRACE x", (logging.DEBUG, "h:1:2 x")), ("h:1:2 RINGLET CALL x", (logging.DEBUG, "h:1:2 x")),
                ("h:1:2 RINGLET ABORT x", (logging.INFO, "h:1:2 x")), ("Ringlet 0.1", (logging.INFO, "Ringlet 0.1")),
                ("", None), ("  ", None)):
            self.assertEqual(record_of(line), found)
        self.assertEqual([debug_level(level) for level in (1, 10, 11, 20, 25, 30, 50)],
                         ["TRACE", "TRACE", "INFO", "INFO", "WARN", "WARN", "WARN"])

    def test_a_long_log_is_read_in_order_and_its_memory_freed(self):
        records, logger = Records(), logging.getLogger("much")
        logger.addHandler(records)
        logger.propagate = False
        logger.setLevel(logging.INFO)
        log = _Log(logger)
        writer = os.open(log.path, os.O_WRONLY | os.O_TRUNC | os.O_APPEND)
        count = 20_000
        for number in range(count):
            os.write(writer, f"h:1:2 [0] RINGLET INFO line {number}\n".encode())
        os.write(writer, b"h:1:2 [0] RINGLET INFO half")
        log.take()
        self.assertEqual([text for _, text in records.found], [f"h:1:2 [0] line {number}" for number in range(count)])
        self.assertLess(os.stat(log.path).st_blocks * 512, 1 << 16)
        os.write(writer, b" a line\n")
        log.take()
        self.assertEqual(records.found[-1], (logging.INFO, "h:1:2 [0] half a line"))
        os.ftruncate(writer, 0)
        os.write(writer, b"h:1:2 [0] RINGLET WARN anew\n")
        log.take()
        self.assertEqual(records.found[-1], (logging.WARNING, "h:1:2 [0] anew"))
        os.close(writer)

    def test_a_failing_handler_does_not_block_lines(self):
        class Refusing(logging.Handler):
            def emit(self, record):
                raise ValueError("a handler of the user that fails")

        logger = logging.getLogger("refusing")
        records = Records()
        logger.addHandler(records)
        logger.addHandler(Refusing())
        logger.propagate = False
        logger.setLevel(logging.INFO)
        log = _Log(logger)
        writer = os.open(log.path, os.O_WRONLY)
        for _ in range(3):
            os.write(writer, b"h:1:2 [0] RINGLET INFO x\n")
            log.take()
        os.close(writer)
        self.assertEqual(len(records.found), 3)


class Detail(unittest.TestCase):
    """PyTorch wraps groups and compares calls by a group of Gloo."""

    def on_ranks(self, size, body):
        def wrapped(rank, size):
            dist.set_debug_level(dist.DebugLevel.DETAIL)
            group = dist.new_group(backend="ringlet")
            inside = group._get_backend(torch.device("cpu"))
            assert type(inside).__name__ == "_ProcessGroupWrapper", inside
            dist.barrier()  # a rank that leaves while another still connects its Gloo breaks that
            body(rank, size, group)

        on_ranks(size, wrapped)

    def test_operations_work_with_the_debug_wrapper(self):
        def body(rank, size, group):
            tensor = torch.full((3,), rank + 1.0)
            dist.all_reduce(tensor, group=group)
            assert tensor.eq(6).all()
            parts = [torch.zeros(1) for _ in range(size)]
            dist.all_gather(parts, torch.tensor([float(rank)]), group=group)
            assert torch.cat(parts).tolist() == [0, 1, 2]
            dist.broadcast(tensor, 1, group=group)
            one = torch.zeros(1)
            dist.reduce_scatter_single(one, torch.ones(size), group=group) if hasattr(
                dist, "reduce_scatter_single") else dist.reduce_scatter_tensor(one, torch.ones(size), group=group)
            assert one.item() == size
            dist.all_to_all_single(torch.zeros(size), torch.ones(size), group=group)
            objects = [None] * size
            dist.all_gather_object(objects, {"rank": rank}, group=group)
            assert objects[2] == {"rank": 2}
            # Messages count as calls, as Gloo's do, so every rank sends one.
            sent = dist.isend(tensor, (rank + 1) % size, group=group)
            dist.recv(torch.empty(3), (rank - 1) % size, group=group)
            sent.wait()
            dist.barrier(group=group)
            ringlet.monitored_barrier(group, timedelta(seconds=30))

        self.on_ranks(3, body)

    def test_training_works_with_the_debug_wrapper(self):
        def body(rank, size, group):
            torch.manual_seed(1)
            model = DistributedDataParallel(torch.nn.Linear(4, 2), process_group=group)
            for _ in range(3):
                model(torch.full((2, 4), rank + 1.0)).sum().backward()
            assert model.module.bias.grad.eq(6).all(), model.module.bias.grad

        self.on_ranks(2, body)

    def test_calls_that_differ_are_an_error_on_both_ranks(self):
        def body(rank, size, group):
            try:
                dist.all_reduce(torch.ones(3 + rank), group=group)
            except RuntimeError as error:
                assert "mismatch between collectives" in str(error), error
            else:
                raise AssertionError("no error")

        self.on_ranks(2, body)

    def test_operators_bypass_the_wrapper(self):
        def body(rank, size, group):
            tensor = torch.full((3,), rank + 1.0)
            ringlet.ops.all_reduce_(tensor, group.group_name)
            assert tensor.tolist() == [3.0] * 3
            dist.all_reduce(tensor, group=group)
            ringlet.ops.barrier(group.group_name)
            gathered = torch.empty(2 * 3)
            ringlet.ops.all_gather_into_tensor(gathered, tensor, group.group_name)
            assert gathered.tolist() == [6.0] * 6
            try:
                ringlet.ops.all_reduce_(torch.ones(3 + rank), group.group_name)
            except RuntimeError as error:
                for each in range(size):
                    self.assertRegex(str(error), rf"rank {each}: \S*debugging.py|ranks 0, 1: \S*debugging.py")
            else:
                raise AssertionError("no error")

        self.on_ranks(2, body)

    def test_operators_refuse_another_backend_in_the_wrapper(self):
        def body(rank, size):
            dist.set_debug_level(dist.DebugLevel.DETAIL)
            gloo = dist.new_group(backend="gloo")
            dist.barrier()
            with self.assertRaisesRegex(ValueError, "has another backend"):
                ringlet.ops.all_reduce_(torch.ones(1), gloo.group_name)

        on_ranks(2, body)

    def test_the_monitored_barrier_names_the_missing_rank(self):
        def body(rank, size, group):
            if rank == 1:
                return
            try:
                ringlet.monitored_barrier(group, timedelta(milliseconds=300))
            except RuntimeError as error:
                assert "Rank 1 failed to pass monitoredBarrier" in str(error), error
            else:
                raise AssertionError("rank 1 was there?")

        self.on_ranks(2, body)


def summed(tensor, asynchronous=False):
    return dist.all_reduce(tensor, async_op=asynchronous)


def told(tensor, asynchronous=False):
    return dist.broadcast(tensor, 0, async_op=asynchronous)


def reduced_by_operator(tensor):
    ringlet.ops.all_reduce_(tensor, dist.group.WORLD.group_name)


def told_by_operator(tensor):
    ringlet.ops.broadcast_(tensor, 0, dist.group.WORLD.group_name)


def line_of(rank, function):
    return f"rank{rank}: \\S*debugging.py:[0-9]+ in {function}, from \\S*debugging.py:[0-9]+ in"


class Lines(unittest.TestCase):
    """The error of differing calls names the line of each rank."""

    def check(self, size, calls, *wanted):
        """Each rank makes one of `calls`, and its error must contain all of `wanted`."""
        def body(rank, size):
            try:
                work = calls[rank]()
                if work is not None:
                    work.wait()
            except RuntimeError as error:
                for pattern in wanted:
                    self.assertRegex(str(error), pattern)
            else:
                raise AssertionError("no error")

        on_ranks(size, body)

    def test_differing_calls_name_the_lines_of_both_ranks(self):
        self.check(2, [lambda: summed(torch.ones(3)), lambda: told(torch.ones(3))],
                   line_of(" 0", "summed"), line_of(" 1", "told"))

    def test_ranks_with_one_line_are_named_together(self):
        same = lambda: summed(torch.ones(3))
        self.check(3, [same, lambda: summed(torch.ones(4)), same], line_of("s 0, 2", "summed"), line_of(" 1", "summed"))

    def test_asynchronous_calls_keep_their_line_at_the_info_level(self):
        def call(function):
            def body():
                dist.set_debug_level(dist.DebugLevel.INFO)
                return function(torch.ones(3), asynchronous=True)

            return body

        self.check(2, [call(summed), call(told)], line_of(" 0", "summed"), line_of(" 1", "told"))

    def test_asynchronous_calls_name_the_setting_that_keeps_lines(self):
        self.check(2, [lambda: summed(torch.ones(3), asynchronous=True), lambda: told(torch.ones(3))],
                   "rank 0: an asynchronous call; TORCH_DISTRIBUTED_DEBUG=INFO keeps its line", line_of(" 1", "told"))

    def test_operators_name_the_lines_of_both_ranks(self):
        self.check(2, [lambda: reduced_by_operator(torch.ones(3)), lambda: told_by_operator(torch.ones(3))],
                   line_of(" 0", "reduced_by_operator"), line_of(" 1", "told_by_operator"))

    def test_a_rank_outside_any_call_is_named(self):
        def body(rank, size):
            dist.barrier()
            if rank == 2:
                the_store().wait(["both have failed"])
                return
            try:
                (summed, told)[rank](torch.ones(3))
            except RuntimeError as error:
                self.assertRegex(str(error), line_of(" 0", "summed"))
                self.assertRegex(str(error), "rank 2: no line arrived in time")
            else:
                raise AssertionError("no error")
            if the_store().add("failed", 1) == 2:
                the_store().set("both have failed", "yes")

        on_ranks(3, body)


class Place(unittest.TestCase):
    def test_it_is_the_callers_line_outside_torch_and_ringlet(self):
        found = []
        torch.utils._pytree.tree_map(lambda each: found.append(python_line()), [1])
        self.assertRegex(found[0], r"^\S*debugging.py:[0-9]+ in <lambda>, from \S*debugging.py:[0-9]+ in test_it_is")
        self.assertNotIn("pytree", found[0])

    def test_the_line_has_at_most_three_calls(self):
        def deep(left):
            return deep(left - 1) if left else python_line()

        self.assertEqual(deep(9).count(" in deep"), 3)


if __name__ == "__main__":
    unittest.main()
