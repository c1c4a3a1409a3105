#!/usr/bin/env python3
"""Tests `ringlet sim init`: equal runs from equal seeds, and a machine-readable result.

    sim_test.py BUILD_DIR
"""
import json
import math
import pathlib
import tempfile

import support
from support import TOOL

SIM = (TOOL, "sim", "init")


class Sim(support.Case):
    def rows(self, *options):
        sim = self.run_to_end(*SIM, "--json", *options)
        self.assertEqual(sim.status, 0, sim.text())
        return json.loads("\n".join(sim.lines))["rows"]

    def test_a_thousand_ranks_form_in_few_steps(self):
        for row in self.rows("-n", "64,1024"):
            self.assertEqual(row["standing"], row["n"])
            self.assertLessEqual(row["steps"], 6 * math.log2(row["n"]))
            phases = row["phases_ms"]
            order = [phases[name] for name in ("checked_in", "roster_first", "roster_last",
                                               "connected", "standing")]
            self.assertEqual(order, sorted(order))
            self.assertEqual(row["total_ms"], phases["standing"])
            self.assertGreater(row["root"]["bytes_received"], 50 * row["n"])

    def test_equal_seeds_give_equal_runs(self):
        def trace(seed):
            options = ("-n", 100, "--jitter", "10us", "--spread", "1ms", "--faults",
                       "kill:3@0.5ms,refuse:0.1", "--seed", seed)
            (row,) = self.rows(*options)
            for outside in ("wall_s", "memory_bytes"):
                del row[outside]
            return row
        self.assertEqual(trace(5), trace(5))
        self.assertNotEqual(trace(5)["trace"], trace(6)["trace"])

    def test_all_ranks_report_a_fault_alike(self):
        (row,) = self.rows("-n", 256, "--faults", "absent:200", "--timeout", "10s")
        self.assertEqual((row["failed"], row["absent"], row["waiting"]), (255, 1, 0))
        (failure,) = row["failures"]
        self.assertIn("timed out waiting for rank 200: 255 of 256", failure["text"])
        self.assertEqual(failure["ranks"], "0-199,201-255")
        self.assertLess(failure["last_ms"], 10000)

    def test_the_table_has_a_row_per_size(self):
        sim = self.run_to_end(*SIM, "-n", "1,16,300")
        self.assertEqual(sim.status, 0, sim.text())
        rows = [line.split() for line in sim.lines if not line.startswith("#")]
        self.assertEqual([row[:2] for row in rows], [["1", "1"], ["16", "2"], ["300", "38"]])

    def test_a_trace_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            self.rows("-n", 16, "--trace", path)
            events = json.loads(path.read_text())["traceEvents"]
        self.assertEqual({event["tid"] for event in events if event["pid"] > 0}, set(range(16)))

    def test_invalid_options_are_refused(self):
        for options in (("-n", "0"), ("--faults", "tickle:3@1s"), ("--latency", "soon")):
            sim = self.run_to_end(*SIM, *options)
            self.assertEqual(sim.status, 2, sim.text())
            self.assertEqual(sim.lines, [])
            self.assertIsNotNone(sim.find("^ringlet sim: .*" + options[1], sim.error_lines))


if __name__ == "__main__":
    support.main()
