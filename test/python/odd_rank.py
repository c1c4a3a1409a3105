"""What the ranks of a job see if rank 1 of three is late, stops, leaves, or dies with a living child.

late_test.py runs these tests over the C API, and ../torch/late.py over PyTorch. Each gives a class
with the calls of a rank:

    join(rank, folder, limit_s)   forms a group of three; waits for other ranks for `limit_s`
    sum(value)                    returns the sum of the values of all ranks
    leave()
"""
import multiprocessing
import os
import re
import signal
import tempfile
import time
import unittest

SIZE = 3
ODD = 1  # the rank that is late, stops, leaves or dies
HANG_S = 100
FORK = multiprocessing.get_context("fork")
LONG_S, SHORT_S = 60, 8  # limits: beyond any wait of a test, and one that a test exceeds


def await_state(pid, state):
    """Waits until the kernel reports this state of a process, such as T for stopped."""
    give_up = time.monotonic() + HANG_S
    while time.monotonic() < give_up:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            found = stat.read().rsplit(")", 1)[1].split()[0]
        if found in (state, "Z"):
            break
        os.sched_yield()
    if found != state:
        raise AssertionError(f"process {pid} has state {found}, not {state}")


def rank_main(api, rank, folder, limit_s, pipe):
    """Sums until rank 1 contributes a flag. Reports `joining`, `summing`, `done` or an error."""
    try:
        pipe.send("joining")
        api.join(rank, folder, limit_s)
        sums, order = 0, ""
        while True:
            if rank == ODD and sums >= 3 and (order or pipe.poll()):
                order = order or pipe.recv()
                if order == "leave":
                    break
                if order == "die":
                    child = os.fork()
                    if child == 0:
                        signal.alarm(2 * HANG_S)
                        signal.pause()
                    pipe.send(child)
                    os.kill(os.getpid(), signal.SIGKILL)
            flag = 100.0 if order == "finish" else 0.0
            total = api.sum(rank + 1.0 + flag)
            assert total % 100 == 6, total
            sums += 1
            if sums == 3:
                pipe.send("summing")
            if total > 100:
                break
        api.leave()
        pipe.send("done")
    except Exception as error:
        pipe.send(f"error: {error}")
        pipe.poll(HANG_S)  # its end would be one more event for the others
    os._exit(0)


class OddRank(unittest.TestCase):
    """A subclass sets `api`, the class with the calls."""

    api = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.ranks = folder.name, {}

    def start(self, *numbers, limit_s=LONG_S):
        for rank in numbers:
            ours, theirs = FORK.Pipe()
            process = FORK.Process(target=rank_main, args=(self.api(), rank, self.folder, limit_s, theirs))
            process.start()
            theirs.close()
            self.addCleanup(process.join)
            self.addCleanup(process.kill)
            self.ranks[rank] = process, ours

    def report_of(self, rank, *skipped):
        """Returns the next report of a rank that is not among `skipped`."""
        while True:
            pipe = self.ranks[rank][1]
            self.assertTrue(pipe.poll(HANG_S), f"rank {rank} hangs")
            report = pipe.recv()
            if report not in skipped:
                return report

    def expect(self, rank, pattern):
        report = self.report_of(rank, "joining", "summing")
        self.assertRegex(report, pattern, f"rank {rank}")
        print(f"{self.id().split('.')[-1]}: rank {rank}: {report}", flush=True)

    def order(self, word):
        self.ranks[ODD][1].send(word)

    def signal(self, number, state=None):
        pid = self.ranks[ODD][0].pid
        os.kill(pid, number)
        if state:
            await_state(pid, state)

    def start_all(self, **options):
        self.start(*range(SIZE), **options)
        for rank in range(SIZE):
            self.assertEqual(self.report_of(rank, "joining"), "summing")

    def test_a_late_rank_delays_the_others(self):
        self.start(0, 2)
        for rank in (0, 2):
            self.assertEqual(self.report_of(rank), "joining")
        self.start(ODD)
        self.order("finish")
        for rank in range(SIZE):
            self.expect(rank, "^done$")

    def test_a_rank_after_the_time_limit_is_named(self):
        self.start(0, 2, limit_s=SHORT_S)
        for rank in (0, 2):
            self.expect(rank, r"^error: .*\b(rank 1|ranks 1)\b")
        self.start(ODD, limit_s=SHORT_S)
        self.expect(ODD, "^error: ")

    def test_a_rank_that_stops_and_continues_delays_the_others(self):
        self.start_all()
        self.signal(signal.SIGSTOP, "T")
        self.signal(signal.SIGCONT)
        self.order("finish")
        for rank in range(SIZE):
            self.expect(rank, "^done$")

    def test_a_rank_that_stops_for_too_long_is_named_and_is_told(self):
        self.start_all(limit_s=SHORT_S)
        self.signal(signal.SIGSTOP, "T")
        for rank in (0, 2):
            self.expect(rank, r"^error: .*\brank 1\b")
        self.signal(signal.SIGCONT)
        self.order("finish")
        self.expect(ODD, r"^error: .*\brank 1\b.*is stopped")

    def test_a_rank_that_leaves_is_named(self):
        self.start_all()
        self.order("leave")
        self.expect(ODD, "^done$")
        for rank in (0, 2):
            self.expect(rank, r"^error: .*\brank 1\b.*(left|destroyed)")

    def test_a_rank_that_dies_is_named_although_its_child_lives(self):
        self.start_all()
        self.order("die")
        child = self.report_of(ODD)
        self.addCleanup(os.kill, child, signal.SIGKILL)
        for rank in (0, 2):
            self.expect(rank, r"^error: .*\brank 1\b")
        with open(f"/proc/{child}/stat", encoding="ascii", errors="replace") as stat:
            self.assertNotRegex(stat.read(), r"\) Z ", "the child lives")
