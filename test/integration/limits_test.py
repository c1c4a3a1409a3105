#!/usr/bin/env python3
"""Tests programs near the limits of their process: descriptors, threads, memory.

    limits_test.py BUILD_DIR
"""
import random
import re
import socket

import support
from support import BUILD, TOOL

C_PROGRAM = str(BUILD / "bin" / "c_program")
# Failures near the limit contain these words, in lower case.
REASONS = ("too many open files", "out of file descriptors", "cannot start a thread")


def numbers(run, word):
    """Returns the numbers of all lines that begin with `word`, also of ranks of ringlet run."""
    return [int(line.split()[-1]) for line in run.lines
            if re.match(rf"(\[\d+\] )?{word} ", line)]


class Descriptors(support.Case):
    def held(self, *words, **settings):
        run = self.run_to_end(*words, **settings)
        self.assertEqual(run.status, 0, run.text())
        return run, numbers(run, "HELD")

    def test_unused_ids_hold_no_descriptors(self):
        self.assertLessEqual(self.held(C_PROGRAM, "ids", 200)[1][0], 0)

    def check_in_one_process(self, communicators, ranks, most):
        run, held = self.held(C_PROGRAM, "in_process", communicators, ranks, most)
        self.assertLessEqual(held[0], most, run.text())
        self.assertLessEqual(numbers(run, "LEFT")[0], self.CONSTANT, run.text())

    # Descriptors independent of the number of communicators. With many ranks there are three more
    # service threads with three each, and an endpoint for each of the ranks that a communicator has
    # here. The warm-up had one thread, and one endpoint stays.
    CONSTANT = 9

    def test_a_communicator_of_one_rank_holds_no_descriptors(self):
        self.check_in_one_process(100, 1, self.CONSTANT)

    def test_ranks_of_one_process_hold_only_their_connections(self):
        # Both ends of the connections of the control tree count.
        self.check_in_one_process(50, 2, 50 * 2 + self.CONSTANT + 3)
        self.check_in_one_process(20, 4, 20 * 6 + self.CONSTANT + 9)

    def check_between_processes(self, links, each, **settings):
        most = 50 * each + self.CONSTANT
        run, held = self.held(TOOL, "run", "-n", 2, C_PROGRAM, "between", 50, links, most,
                              **settings)
        self.assertEqual(len(held), 2, run.text())
        for one in held:
            self.assertLessEqual(one, most, run.text())

    def test_a_communicator_of_two_processes_holds_two_descriptors(self):
        self.check_between_processes(0, 1 + 1)

    def test_a_shared_memory_link_adds_two_descriptors(self):
        self.check_between_processes(1, 1 + 1 + 2)

    def test_a_tcp_link_adds_one_descriptor(self):
        self.check_between_processes(1, 1 + 1 + 1, RINGLET_LINKS="tcp")

    def test_refused_jobs_leave_no_descriptors(self):
        run = self.run_to_end(C_PROGRAM, "refused", 5)
        self.assertEqual(run.status, 0, run.text())
        self.assertLessEqual(numbers(run, "LEFT")[0], 0, run.text())

    def test_peers_killed_while_they_join_leave_no_descriptors(self):
        seed = random.randrange(1 << 30)
        print(f"seed {seed}")
        run = self.run_to_end(C_PROGRAM, "survive", 20, seed, RINGLET_INIT_TIMEOUT="1")
        self.assertEqual(run.status, 0, run.text())
        self.assertLessEqual(numbers(run, "LEFT")[0], 0, run.text())


class FewDescriptors(support.Case):
    def check(self, run):
        self.assertEqual(run.status, 0, run.text())
        self.assertIn("WELL", run.lines, run.text())
        for line in run.lines:
            if (match := re.match(r"(?:SPARE|THREADS) (\d+): (\d+) (.*)", line)) and match[2] != "0":
                self.assertTrue(any(reason in match[3].lower() for reason in REASONS), line)
        self.assertFalse([one for one in numbers(run, "LEFT") if one > 0], run.text())

    def test_exhausted_descriptors_fail_a_call_but_not_the_process(self):
        self.check(self.run_to_end(C_PROGRAM, "few_descriptors", RINGLET_INIT_TIMEOUT="1"))

    def test_both_ranks_name_the_missing_descriptors_of_a_split(self):
        run = self.run_to_end(C_PROGRAM, "split_until_full", 64)
        lines = [line.lower() for line in run.lines if re.match("SPLIT [1-9]", line)]
        self.assertEqual(len(lines), 2, run.text())
        for line in lines:
            self.assertTrue(any(reason in line for reason in REASONS), run.text())

    def test_a_process_with_few_descriptors_reports_the_lack(self):
        for spare in range(0, 41):
            with self.subTest(spare=spare):
                self.check(self.run_to_end(C_PROGRAM, "few_at_first", spare,
                                           RINGLET_INIT_TIMEOUT="1"))


class FewThreads(support.Case):
    def test_a_thread_that_cannot_start_fails_a_call_but_not_the_process(self):
        for spare in range(0, 5):
            with self.subTest(spare=spare):
                run = self.run_to_end(C_PROGRAM, "few_threads", spare)
                FewDescriptors.check(self, run)
                self.assertEqual(run.find("^THREADS").split()[2] == "0", spare >= 3, run.text())


class Run(support.Case):
    def test_ranks_with_separate_id_requests_meet(self):
        run = self.run_to_end(TOOL, "run", "-n", 4, C_PROGRAM, "meet")
        self.assertEqual(run.status, 0, run.text())
        for rank in range(4):
            self.assertIn(f"[{rank}] SUM 10", run.lines, run.text())
            self.assertIn(f"[{rank}] NEXT another", run.lines, run.text())
            self.assertIn(f"[{rank}] AGAIN 10", run.lines, run.text())

    def test_a_second_id_is_private_to_its_process(self):
        run = self.run_to_end(TOOL, "run", "-n", 2, C_PROGRAM, "meet_twice",
                              RINGLET_INIT_TIMEOUT="1")
        for rank in range(2):
            self.assertRegex(run.find(rf"^\[{rank}\] SECOND"),
                             "SECOND [1-9].*timed out")

    def test_ranks_meet_at_a_fixed_address(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        run = self.run_to_end(TOOL, "run", "-n", 4, C_PROGRAM, "meet",
                              NCCL_COMM_ID=f"127.0.0.1:{port}", RINGLET_SECRET="s")
        for rank in range(4):
            self.assertIn(f"[{rank}] SUM 10", run.lines, run.text())


if __name__ == "__main__":
    support.main()
