#!/usr/bin/env python3
"""Compares the log of communicators on emulated machines, and the times of reports, with NCCL's log
on the same machines and with `ringlet predict`: statements_test.py BUILD_FOLDER [unittest's
arguments].

    statements_test.py BUILD_FOLDER --table    the comparison with NCCL as a table"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = SOURCE / "test/fixtures/topologies"
MACHINES = SOURCE / "machines"
BUILD = None  # set by main
TIMEOUT_S = 300
# Logs of NCCL: the machine's file, the number of ranks, and the differences of an older version or
# another host. Lines about channels are compared.
LOGS = {"a100pcie_timez.rank0": ("nvidia/a100pcie_nvl2_timez.topo.xml", 2),
        "a100pcie_fault_timez.rank0": ("broken/a100pcie_topo_fail_timez.topo.xml", 2),
        "3090x8_panlichen.log27.rank4": ("nvidia/3090x8_panlichen.topo.xml", 8)}
OF_CHANNELS = re.compile(r"(Ring \d\d : |Trees \[|Channel \d\d/\d\d : |\d+ coll channels|"
                         r"comm 0x\w+ rank \d+ nRanks)")
GRAPHS = {"3090x8_panlichen": "3090x8_panlichen", "hgx_b200_8x_vastai": "hgx_b200_8x_vastai",
          "hgx_h200_8x_vastai": "hgx_h200_8x_vastai", "perlmutter_a100_nid001056": "perlmutter_a100_nid001056",
          "ucb_dgx1v": "ucb_dgx1v_graph"}
# Ten machines for times, of all kinds.
TIMED = ("a100-pcie-nvlink2", "azure-nd-a100-v4", "azure-nd-h100-v5", "azure-ndv2", "dgx-a100", "dgx-h100",
         "gcp-a3-high", "hgx-h200", "perlmutter-a100", "rtx3090-pcie8")


def run(*words, **more):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("RINGLET_", "NCCL_", "CUDA_", "LD_"))}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S, env={**clean, **more})


def emulate(*words, **more):
    return run(BUILD / "bin/ringlet", "emulate", "--sysfs", "off", *words, **more)


def said_here(file, ranks, hosts=1):
    """Returns the lines of each rank, without the prefix of log lines."""
    ran = emulate("--machine", file, "-n", ranks * hosts, "--hosts", hosts, "--", BUILD / "bin/host_ranks",
                  NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT,GRAPH,ENV", RINGLET_TIMEOUT="60")
    if ran.returncode != 0:
        raise AssertionError(ran.stdout[-2000:] + ran.stderr[-2000:])
    lines = {}
    for line in (ran.stdout + ran.stderr).splitlines():
        found = re.match(r"\[(\d+)\] .* RINGLET INFO (.*)", line)
        if found:
            lines.setdefault(int(found[1]), []).append(found[2].strip())
    return lines


def said_by_nccl(log):
    """Yields (rank, line) of a log."""
    text = (FIXTURES / f"statements/{log}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        found = re.match(r"\S+:\d+:\d+ \[(\d+)\] NCCL INFO (.*)", line)
        if found and OF_CHANNELS.match(found[2]):
            yield int(found[1]), re.sub(r"comm 0x\w+ ", "", found[2].strip())


def rings_of_graph(name):
    """Returns the rings of an NCCL graph file as ranks, from rank 0 on."""
    text = (FIXTURES / f"graphs/{name}.graph.xml").read_text(encoding="utf-8")
    rings = []
    for graph in xml.etree.ElementTree.fromstring(text).findall("graph"):
        if graph.get("id") == "0":
            for channel in graph.findall("channel"):
                ring = [int(gpu.get("dev"), 0) for gpu in channel.findall("gpu")]
                start = ring.index(0)
                rings.append(ring[start:] + ring[:start])
    return rings


def rings_here(lines):
    found = [re.match(r"Channel \d\d/\d\d : ([\d ]+)$", line) for line in lines.get(0, [])]
    return [[int(rank) for rank in ring[1].split()] for ring in found if ring]


def compare_logs():
    """Yields (log, lines, equal, differing ones)"""
    for log, (file, ranks) in LOGS.items():
        here = {rank: {re.sub(r"comm 0x\w+ ", "", line) for line in lines}
                for rank, lines in said_here(FIXTURES / file, ranks).items()}
        theirs = list(said_by_nccl(log))
        other = [(rank, line) for rank, line in theirs if line not in here.get(rank, ())]
        yield log, len(theirs), len(theirs) - len(other), other


def compare_graphs():
    """(machine, channels of the file, rings of the file, channels here, true if rings are equal)"""
    for machine, graph in GRAPHS.items():
        file = FIXTURES / f"nvidia/{machine}.topo.xml"
        theirs = rings_of_graph(graph)
        here = rings_here(said_here(file, len(theirs[0])))
        # NCCL duplicates a search's channels if they are few.
        times = len(here) // len(theirs)
        yield machine, len(theirs), len(here), here == theirs * times


def compare_counts():
    """Yields (machine, hosts, channels of NCCL 2.30, channels here)"""
    results = json.loads((FIXTURES / "nccl-2.30-results.json").read_text(encoding="utf-8"))
    for name, result in results.items():
        machine, hosts = re.fullmatch(r"(.*)\.(\d)hosts", name).groups()
        lines = said_here(FIXTURES / f"nvidia/{machine}.topo.xml", result["gpus"], int(hosts))
        counts = [re.match(r"(\d+) coll channels", line) for line in lines[0]]
        yield machine, int(hosts), result["finalChannels"], int([one[1] for one in counts if one][0])


class Statements(unittest.TestCase):
    def test_log_lines_equal_those_of_nccl(self):
        for log, lines, _, other in compare_logs():
            with self.subTest(log=log):
                self.assertGreater(lines, 1)
                self.assertEqual(other, [])

    def test_rings_equal_those_in_graph_files_of_nccl(self):
        for machine, theirs, here, equal in compare_graphs():
            with self.subTest(machine=machine):
                self.assertGreaterEqual(here, theirs)
                self.assertTrue(equal)

    def test_channel_counts_equal_those_of_nccl(self):
        for machine, hosts, theirs, here in compare_counts():
            with self.subTest(machine=machine, hosts=hosts):
                self.assertEqual(here, theirs)


class Times(unittest.TestCase):
    """The times of reports are those of `ringlet predict`; measured bytes are those of the plan."""

    def report(self, machine, hosts, *options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "report.json"
            ran = emulate("--machine", machine, "--hosts", hosts, "--report", file, *options, "--",
                          BUILD / "bin/every_function", RINGLET_TIMEOUT="120")
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            self.assertEqual(ran.stderr, "")
            return json.loads(file.read_text(encoding="utf-8"))

    def test_predictions_hold_on_ten_machines_with_one_two_and_four_hosts(self):
        for machine in TIMED:
            for hosts in (1, 2, 4):
                report = self.report(machine, hosts)
                self.assertEqual(report["findings"], [])
                for link in report["links"]:
                    self.assertEqual(link["measured_bytes"], link["planned_bytes"])
                functions = set()
                for call in report["calls"]:
                    if "algorithm" not in call:
                        continue
                    functions.add(call["function"])
                    with self.subTest(machine=machine, hosts=hosts, call=call["function"], bytes=call["bytes"]):
                        self.expect_predicted(machine, hosts, call)
                self.assertEqual(len(functions), 5)

    def expect_predicted(self, machine, hosts, call):
        blocks = call["ranks"] if call["function"] in ("all_gather", "reduce_scatter") else 1
        ran = run(BUILD / "bin/ringlet", "predict", call["function"], MACHINES / f"{machine}.xml", "--hosts",
                  hosts, "--policy", "compat", "-b", call["bytes"] * blocks, "--json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        made = json.loads(ran.stdout)
        self.assertEqual(call.get("nccl_algorithm", call["algorithm"]), made["algorithm"])
        self.assertAlmostEqual(call.get("nccl_predicted_us", call["predicted_us"]), made["time_us"], places=3)

    def test_a_slow_link_appears_in_the_report_and_in_the_times(self):
        report = self.report("perlmutter-a100", 2, "--slow", "link=NET0:0.1")
        slow = [link for link in report["links"] if "nominal_mb_per_s" in link]
        self.assertTrue(slow)
        for link in slow:
            self.assertIn("NET/0-0", (link["from"], link["to"]))
            self.assertEqual(link["mb_per_s"], link["nominal_mb_per_s"] // 10)
        self.assertEqual(report["links"][0]["load"], 1)
        self.assertIn("nominal_mb_per_s", report["links"][0])
        largest = [call for call in report["calls"] if call["size"] >= 1 << 20 and "algorithm" in call]
        self.assertTrue(largest)
        for call in largest:
            self.assertGreater(call["slowed_us"], call["predicted_us"])
        again = self.report("perlmutter-a100", 2, "--slow", "link=NET0:0.1")
        self.assertEqual([call.get("slowed_us") for call in report["calls"]],
                         [call.get("slowed_us") for call in again["calls"]])

    def test_a_slow_link_of_one_host_slows_all(self):
        one = self.report("perlmutter-a100", 2, "--slow", "link=NET0@1:0.1")
        slow = {link["host"] for link in one["links"] if "nominal_mb_per_s" in link}
        self.assertEqual(len(slow), 1)
        self.assertTrue(any("slowed_us" in call for call in one["calls"]))

    def test_paced_operations_over_a_slow_link_take_the_predicted_time(self):
        slow = ("--slow", "link=NET0:0.002")
        report = self.report("perlmutter-a100", 2, *slow)
        wanted = {(call["function"], call["size"]): call["slowed_us"] for call in report["calls"]
                  if call["size"] == 1 << 20 and "slowed_us" in call}
        self.assertEqual(len(wanted), 5)
        ran = emulate("--machine", "perlmutter-a100", "--hosts", 2, "--pace", *slow, "--",
                      BUILD / "bin/every_function", RINGLET_TIMEOUT="120")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        lasted = re.findall(r"\[\d\] (\w+) 1048576 ([\d.]+)", ran.stdout)
        self.assertEqual(len(lasted), 10)
        for function, us in lasted:
            self.assertGreaterEqual(float(us), wanted[function, 1 << 20])

    def test_an_unknown_link_gives_the_nearest_names(self):
        ran = emulate("--machine", "dgx-a100", "--slow", "link=NET20:0.1", "--", "true")
        self.assertEqual(ran.returncode, 2)
        self.assertRegex(ran.stderr, r"not have that link; the nearest names are (NET\d+ ?)+")


def table():
    print("| statement of NCCL | compared | equal |\n|---|---|---|")
    for log, lines, equal, other in compare_logs():
        print(f"| statements/{log} | {lines} lines of rings, trees and channels | {equal} |")
        for rank, line in other[:5]:
            print(f"|   | rank {rank}: {line} | no |")
    for machine, theirs, here, equal in compare_graphs():
        print(f"| graphs of {machine} | {theirs} rings, {here} channels here | {'all' if equal else 'no'} |")
    for machine, hosts, theirs, here in compare_counts():
        print(f"| 2.30: {machine}, {hosts} hosts | {theirs} channels | {here} |")


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    if sys.argv[1:] == ["--table"]:
        table()
    else:
        unittest.main()
