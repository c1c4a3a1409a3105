#!/usr/bin/env python3
"""Tests `ringlet bench`: right results on every kind of link, and a clear end when one dies.

    bench_test.py BUILD_DIR
"""
import json
import os
import signal
import tempfile
import time

import support
from support import TOOL

BENCH = (TOOL, "bench", "all_reduce")
INIT = (TOOL, "bench", "init")


class Results(support.Case):
    def check_sweep(self, links, data_type, op):
        bench = self.run_to_end(*BENCH, "-n", 3, "-b", 1, "-e", "256K", "-f", 64, "-i", 2, "-w", 1,
                                "-d", data_type, "-o", op, "--links", links, "--check", "--json")
        self.assertEqual(bench.status, 0, bench.text())
        result = json.loads("\n".join(bench.lines))
        self.assertEqual((result["op"], result["ranks"], result["type"], result["redop"]),
                         ("all_reduce", 3, data_type, op))
        self.assertEqual(result["links"], f"2 {links}")
        self.assertEqual(len(result["rows"]), 4)
        for row in result["rows"]:
            for placement in (row, row["in_place"]):
                self.assertEqual(placement["wrong"], 0, bench.text())
                self.assertGreater(placement["time_us"], 0)
                self.assertGreaterEqual(placement["p99_us"], placement["time_us"])
                self.assertAlmostEqual(placement["algbw_gb_s"],
                                       row["size"] / placement["time_us"] / 1e3)
                self.assertAlmostEqual(placement["busbw_gb_s"], placement["algbw_gb_s"] * 4 / 3)
        self.assertEqual(result["rows"][-1]["size"], 262144)

    def check_links(self, links):
        for data_type in ("float", "bfloat16", "int64", "f8e4m3"):
            for op in ("sum", "max"):
                with self.subTest(type=data_type, op=op):
                    self.check_sweep(links, data_type, op)

    def test_shared_memory_gives_right_results(self):
        self.check_links("shm")

    def test_tcp_gives_right_results(self):
        self.check_links("tcp")

    def test_a_single_process_gives_right_results(self):
        self.check_links("inproc")

    def test_each_number_of_ranks_up_to_nine_gives_right_results(self):
        for ranks in range(1, 10):
            with self.subTest(ranks=ranks):
                bench = self.run_to_end(*BENCH, "-n", ranks, "-b", 4, "-e", 4096, "-f", 32, "-i", 1,
                                        "-w", 0, "--check", "--json")
                self.assertEqual(bench.status, 0, bench.text())
                rows = json.loads("\n".join(bench.lines))["rows"]
                self.assertEqual([row["wrong"] for row in rows], [0] * 3)

    def test_equal_address_layouts_give_right_results(self):
        """Ranks then have the same addresses for different memory."""
        for operation in ("all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter",
                          "alltoall", "gather", "scatter", "sendrecv"):
            with self.subTest(operation=operation):
                bench = self.run_to_end("setarch", "-R", TOOL, "bench", operation, "-n", 2,
                                        "-b", "64K", "-e", "4M", "-f", 8, "-i", 1, "-w", 0,
                                        "--check", "--json", RINGLET_WAIT="spin")
                self.assertEqual(bench.status, 0, bench.text())
                for row in json.loads("\n".join(bench.lines))["rows"]:
                    wrong = [placement["wrong"] for placement in (row, row.get("in_place"))
                             if placement]
                    self.assertFalse(any(wrong), bench.text())

    def test_the_table_has_a_row_per_size(self):
        bench = self.run_to_end(*BENCH, "-n", 2, "-b", 8, "-e", 64, "-i", 2, "--check")
        self.assertEqual(bench.status, 0, bench.text())
        rows = [line.split() for line in bench.lines if not line.startswith("#")]
        self.assertEqual([row[0] for row in rows], ["8", "16", "32", "64"])
        for row in rows:
            self.assertEqual(row[2:5], ["float", "sum", "-1"])
            self.assertEqual((row[8], row[12]), ("0", "0"))
        self.assertIsNotNone(bench.find("Avg bus bandwidth"))

    def test_log_lines_stay_out_of_the_result(self):
        bench = self.run_to_end(*BENCH, "-n", 2, "-b", 8, "-e", 8, "-i", 1, "--json",
                                RINGLET_DEBUG="INFO", RINGLET_DEBUGG="unknown")
        self.assertEqual(bench.status, 0, bench.text())
        self.assertEqual(json.loads("\n".join(bench.lines))["ranks"], 2)
        for said in ("Init COMPLETE", "RINGLET_DEBUGG"):
            self.assertIsNotNone(bench.find(said, bench.error_lines), bench.text())


class Operations(support.Case):
    """Runs every operation among processes, beside others, over namespaces; and reports."""

    NAMES = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
             "gather", "scatter", "send_receive")

    def result(self, operation, *arguments, **settings):
        bench = self.run_to_end(TOOL, "bench", operation, "--json", *arguments, **settings)
        self.assertEqual(bench.status, 0, bench.text())
        return json.loads("\n".join(bench.lines)), bench

    def test_every_operation_is_right(self):
        for operation in self.NAMES:
            with self.subTest(operation=operation):
                result, bench = self.result(operation, "-n", 3, "-b", 12, "-e", "300K", "-f", 160,
                                            "-i", 2, "-w", 1, "--check")
                self.assertEqual(result["op"], operation)
                for row in result["rows"]:
                    for placement in (row, row.get("in_place", row)):
                        self.assertEqual(placement["wrong"], 0, bench.text())

    def test_a_barrier_has_one_row_without_bytes(self):
        result, _ = self.result("barrier", "-n", 3, "-i", 5)
        (row,) = result["rows"]
        self.assertEqual(row["size"], 0)
        self.assertGreater(row["time_us"], 0)

    def test_other_libraries_are_measured_or_reported_missing(self):
        for operation in ("all_reduce", "reduce_scatter", "sendrecv"):
            with self.subTest(operation=operation):
                result, bench = self.result(operation, "-n", 2, "-b", 64, "-e", 1024, "-f", 16, "-i",
                                            3, "--rounds", 2, "--vs", "gloo,openmpi,mpich")
                for peer in ("gloo", "openmpi", "mpich"):
                    if bench.find(f"{peer} is not measured", bench.error_lines):
                        self.assertNotIn(peer, result.get("peers", []))
                        continue
                    self.assertEqual(len(result["rows"]), 2)
                    for row in result["rows"]:
                        self.assertGreater(row["peers"][peer]["time_us"], 0, bench.text())
                    self.assertIsNotNone(bench.find(f"round 2 of 2: {peer}", bench.error_lines))

    def test_hosts_are_namespaces(self):
        bench = self.run_to_end(TOOL, "bench", "all_reduce", "--json", "-n", 4, "--hosts", 2, "-b",
                                8, "-e", "64K", "-f", 64, "-i", 3, "--check", "--delay", "2ms")
        if bench.find("cannot make a network namespace", bench.error_lines):
            self.skipTest("no right to make network namespaces here")
        self.assertEqual(bench.status, 0, bench.text())
        result = json.loads("\n".join(bench.lines))
        self.assertIn("tcp", result["links"])
        for row in result["rows"]:
            self.assertEqual(row["wrong"], 0)
            self.assertGreater(row["time_us"], 2000)  # one way at least, beyond our own speed
        self.assertEqual(self.marked(), {})

    def test_measurements_are_drawn(self):
        _, bench = self.result("all_gather", "-n", 2, "-b", 64, "-e", 1024, "-i", 2)
        with tempfile.TemporaryDirectory() as folder:
            measured, picture = f"{folder}/a.json", f"{folder}/a.svg"
            with open(measured, "w", encoding="ascii") as file:
                file.write("\n".join(bench.lines))
            plot = self.run_to_end(TOOL, "bench", "plot", measured, "-o", picture)
            self.assertEqual(plot.status, 0, plot.text())
            with open(picture, encoding="ascii") as file:
                self.assertIn("all_gather, 2 ranks", file.read())

    def test_measured_choices_are_read_back(self):
        with tempfile.TemporaryDirectory() as folder:
            tuned = f"{folder}/tuned"
            tune = self.run_to_end(TOOL, "bench", "--tune", tuned, "-n", 2, "-b", 64, "-e", 64)
            self.assertEqual(tune.status, 0, tune.text())
            self.result("all_reduce", "-n", 2, "-e", 64, "-i", 2, "--check",
                        RINGLET_TUNE_FILE=tuned, RINGLET_HOST_MEMORY="0")
            explain = self.run_to_end(TOOL, "explain", "all_reduce", "-n", 2, "-b", 64,
                                      RINGLET_TUNE_FILE=tuned, RINGLET_HOST_MEMORY="0")
            self.assertIsNotNone(explain.find("chosen: the fastest in measurements"), explain.text())

    def test_measured_shared_memory_choices_are_read_back(self):
        with tempfile.TemporaryDirectory() as folder:
            tuned = f"{folder}/tuned"
            tune = self.run_to_end(TOOL, "bench", "--tune", tuned, "-n", 2, "-b", 64, "-e", 64)
            self.assertEqual(tune.status, 0, tune.text())
            explain = self.run_to_end(TOOL, "explain", "all_reduce", "-n", 2, "-b", 64, "--json",
                                      RINGLET_TUNE_FILE=tuned)
            ways = json.loads("\n".join(explain.lines))["ways"]
            self.assertTrue(any(way["measured"] for way in ways), explain.text())
            # The fastest algorithm varies. The test puts another one in its place, which then runs.
            with open(tuned, encoding="ascii") as file:
                kept = [line for line in file if not line.startswith("all_reduce")]
            with open(tuned, "w", encoding="ascii") as file:
                file.writelines([*kept, "all_reduce ranks 2 hosts 1 bytes any slices\n"])
            self.result("all_reduce", "-n", 2, "-e", 64, "-i", 2, "--check",
                        RINGLET_TUNE_FILE=tuned)
            explain = self.run_to_end(TOOL, "explain", "all_reduce", "-n", 2, "-b", 64, "--json",
                                      RINGLET_TUNE_FILE=tuned)
            self.assertEqual(json.loads("\n".join(explain.lines))["algorithm"], "slices")


class Ends(support.Case):
    def start_long(self, links):
        bench = self.start(*BENCH, "-n", 3, "-b", "1M", "-e", "1M", "-i", 1000000, "--links", links)
        bench.wait_for("^# ringlet bench")
        workers = {int(variables["RINGLET_RANK"]): pid
                   for pid, variables in self.marked().items() if "RINGLET_RANK" in variables}
        self.assertEqual(sorted(workers), [0, 1, 2])
        return bench, workers

    def test_a_killed_worker_is_named_and_ends_the_bench(self):
        for links in ("shm", "tcp"):
            with self.subTest(links=links):
                bench, workers = self.start_long(links)
                os.kill(workers[1], signal.SIGKILL)
                self.assertEqual(bench.wait(), 128 + signal.SIGKILL, bench.text())
                self.assertIsNotNone(bench.find(
                    r"rank 1 was killed by signal 9 \(SIGKILL\)", bench.error_lines), bench.text())
                self.assertEqual(self.marked(), {})

    def test_workers_die_with_the_launcher(self):
        bench, workers = self.start_long("shm")
        bench.signal(signal.SIGKILL)
        for pid in workers.values():
            self.assertTrue(support.await_end(pid))

    def test_an_interrupt_ends_all_workers(self):
        bench, _ = self.start_long("shm")
        bench.signal(signal.SIGINT)
        self.assertEqual(bench.wait(), 128 + signal.SIGINT)
        self.assertIsNotNone(bench.find("ended by SIGINT", bench.error_lines), bench.text())
        self.assertEqual(self.marked(), {})

    def test_an_invalid_setting_is_reported_without_a_result(self):
        bench = self.run_to_end(*BENCH, RINGLET_PIPE_BYTES="5")
        self.assertNotEqual(bench.status, 0)
        self.assertIsNotNone(bench.find("RINGLET_PIPE_BYTES", bench.error_lines), bench.text())
        self.assertEqual(bench.lines, [])


class Init(support.Case):
    def rows(self, *arguments):
        bench = self.run_to_end(*INIT, "--json", *arguments)
        self.assertEqual(bench.status, 0, bench.text())
        return [json.loads(line) for line in bench.lines]

    def check(self, row, ranks, processes):
        self.assertEqual((row["n"], row["processes"], len(row["repetitions"])),
                         (ranks, processes, 2))
        for one in [row, *row["repetitions"]]:
            self.assertGreater(one["total_ms"], 0)
            self.assertEqual(list(one["phases_ms"]), ["check_in", "roster", "connect", "go"])
            self.assertAlmostEqual(one["connections_per_rank"], (2 * ranks - 1) / ranks)
        self.assertGreaterEqual(row["total_ms"], row["min_ms"])
        self.assertLessEqual(row["total_ms"], row["max_ms"])

    def test_ranks_run_as_processes(self):
        (row,) = self.rows("-n", 12, "--as", "processes", "-i", 2)
        self.check(row, 12, 12)
        self.assertEqual(row["as"], "processes")

    def test_ranks_run_as_threads_of_several_processes(self):
        rows = self.rows("-n", "7,20", "--processes", 3, "-i", 2)
        self.check(rows[0], 7, 3)
        self.check(rows[1], 20, 3)

    def test_a_peer_is_measured_or_reported_missing(self):
        (row,) = self.rows("-n", 4, "-i", 2, "--vs", "gloo,openmpi")
        self.check(row, 4, 1)
        self.assertEqual(sorted(row["vs"]), ["gloo", "openmpi"])
        for name, peer in row["vs"].items():
            built = os.path.exists(os.path.join(os.path.dirname(TOOL), f"ringlet_init_{name}"))
            with self.subTest(peer=name, built=built):
                self.assertEqual(peer["total_ms"] is not None, built, peer)
                self.assertEqual("was not built" in peer.get("trouble", ""), not built, peer)

    def test_a_killed_process_is_named_and_ends_the_bench(self):
        bench = self.start(*INIT, "-n", 3, "--as", "processes", "-i", 10000)
        give_up = time.monotonic() + support.TIMEOUT_S
        workers = {}
        while sorted(workers) != [0, 1, 2]:
            self.assertLess(time.monotonic(), give_up, "the processes do not start")
            workers = {int(variables["RINGLET_RANK"]): pid
                       for pid, variables in self.marked().items() if "RINGLET_RANK" in variables}
        os.kill(workers[1], signal.SIGKILL)
        self.assertEqual(bench.wait(), 128 + signal.SIGKILL, bench.text())
        self.assertIsNotNone(bench.find(r"process 1 was killed by signal 9 \(SIGKILL\)",
                                        bench.error_lines), bench.text())
        self.assertEqual(self.marked(), {})


if __name__ == "__main__":
    support.main()
