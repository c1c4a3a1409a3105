#!/usr/bin/env python3
"""Runs ranks on emulated machines: right results, and the planned bytes on each link of the
hardware.

    traffic_test.py BUILD_DIR
"""
import json
import pathlib
import re
import tempfile

import support
from support import TOOL

MACHINES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "topologies" / "nvidia"
# Complete files: DGX-1, DGX and HGX of A100, H100, H200 and B200, clouds, PCIe alone.
COMPLETE = ("3090x8_panlichen", "H100", "a100pcie_nvl2_timez", "dgx_a100_keysight", "dgx_a100_xla",
            "gcp_a3_h100", "hgx_b200_8x_vastai", "hgx_h200_8x_vastai", "hpe_675d_nic_affinity",
            "nc48v4", "ncv4.old", "perlmutter_a100_nid001056", "topo_8A100_4CX6", "ucb_dgx1v")
SIZE = 4 * 100_003  # a prime number of floats: no number of ranks, channels or chunks divides it


def path_of(machine):
    return MACHINES / f"{machine}.topo.xml"


def gpus_of(machine):
    return len(re.findall(r"<gpu\b", path_of(machine).read_text()))


def moved(call, ranks):
    """Returns the bytes that all ranks together send for the calls of one kind."""
    others = ranks - 1
    factor = {"all_reduce": 2 * others, "broadcast": others, "reduce": others, "gather": others,
              "scatter": others, "all_gather": ranks * others, "reduce_scatter": ranks * others,
              "all_to_all": ranks * others, "send_receive": 1}[call["function"]]
    return factor * call["bytes"] * call["calls"]


class Traffic(support.Case):
    def bench(self, operation, machine, hosts, **settings):
        """Runs it on all GPUs of this number of hosts. Returns the report, and its files."""
        on_host = gpus_of(machine)
        ranks = hosts * on_host
        with tempfile.TemporaryDirectory() as folder:
            script = (f"RINGLET_HOSTID=host-$((RANK / {on_host})) "
                      f"RINGLET_LOCAL_RANK=$((RANK % {on_host})) "
                      f"exec {TOOL} bench {operation} --worker -n {ranks} -b {SIZE} -e {SIZE} "
                      "-i 1 -w 0 --check")
            run = self.run_to_end(TOOL, "run", "-n", ranks, "--", "sh", "-c", script,
                                  RINGLET_MACHINE=str(path_of(machine)), RINGLET_TRAFFIC_DIR=folder,
                                  **({"RINGLET_PLAN_POLICY": "compat"} | settings))
            self.assertEqual(run.status, 0, run.text())
            wrong = re.findall(r'"wrong":(\d+)', "\n".join(run.lines))
            self.assertTrue(wrong, run.text())
            self.assertEqual(set(wrong), {"0"}, run.text())
            files = [json.loads(file.read_text()) for file in pathlib.Path(folder).iterdir()]
            report = self.run_to_end(TOOL, "traffic", folder, "--json")
            self.assertEqual(report.status, 0, report.text())
            return json.loads("\n".join(report.lines)), files

    def check(self, operation, machine, hosts, **settings):
        report, files = self.bench(operation, machine, hosts, **settings)
        ranks = hosts * gpus_of(machine)
        self.assertEqual(report["findings"], [])
        self.assertEqual([host["name"] for host in report["hosts"]],
                         [f"host-{host}" for host in range(hosts)])
        (communicator,) = report["communicators"]
        self.assertEqual([rank["rank"] for rank in communicator["by_rank"]], list(range(ranks)))
        self.assertEqual(len(files), ranks)
        first_links = 0
        for file in files:
            for link in file["links"]:
                self.assertEqual(link["measured_bytes"], link["planned_bytes"], (file["rank"], link))
                if (link["host"], link["from"]) == (file["host_identity"], file["gpu"]):
                    first_links += link["measured_bytes"]
        self.assertEqual(first_links, sum(moved(call, ranks) for call in report["calls"]))
        self.assertEqual(first_links, sum(rank["sent_bytes"] for rank in communicator["by_rank"]))
        self.assertEqual(sum(link["measured_bytes"] for link in report["links"]),
                         sum(link["measured_bytes"] for file in files for link in file["links"]))
        return report

    def check_machine(self, machine):
        for hosts in (1, 2, 4):
            for algorithm in ("Ring", "Tree"):
                with self.subTest(machine=machine, hosts=hosts, algorithm=algorithm):
                    report = self.check("all_reduce", machine, hosts, NCCL_ALGO=algorithm)
                    self.assertEqual({call["algorithm"] for call in report["calls"]}, {algorithm})
                    self.assertGreater(report["calls"][0]["predicted_us"], 0)
                    kinds = {kind["kind"] for kind in report["kinds"]}
                    self.assertEqual("NET" in kinds, hosts > 1 and self.has_nic(machine), kinds)

    def has_nic(self, machine):
        return "<net " in path_of(machine).read_text()

    def test_other_operations_move_the_planned_bytes(self):
        for operation in ("all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all",
                          "gather", "scatter", "send_receive"):
            with self.subTest(operation=operation):
                report = self.check(operation, "dgx_a100_xla", 2)
                self.assertEqual({call["function"] for call in report["calls"]}, {operation})

    def test_the_best_channels_move_the_planned_bytes(self):
        # Rings and trees have numbers of channels of their own there.
        for machine, hosts in (("ucb_dgx1v", 1), ("dgx_a100_xla", 1), ("gcp_a3_h100", 2)):
            for algorithm in ("Ring", "Tree"):
                with self.subTest(machine=machine, hosts=hosts, algorithm=algorithm):
                    report = self.check("all_reduce", machine, hosts, NCCL_ALGO=algorithm,
                                        RINGLET_PLAN_POLICY="best")
                    self.assertEqual({call["algorithm"] for call in report["calls"]}, {algorithm})

    def test_the_picture_shows_the_busiest_link(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = path_of("dgx_a100_xla")
            run = self.run_to_end(TOOL, "bench", "all_reduce", "-n", 8, "-b", SIZE, "-e", SIZE,
                                  "-i", 1, "-w", 0, RINGLET_MACHINE=str(machine),
                                  RINGLET_TRAFFIC_DIR=folder)
            self.assertEqual(run.status, 0, run.text())
            drawn = self.run_to_end(TOOL, "traffic", folder, "-o", "-", RINGLET_MACHINE=str(machine))
            self.assertEqual(drawn.status, 0, drawn.text())
            self.assertIsNotNone(drawn.find("^<svg "))
            self.assertIsNotNone(drawn.find(
                r"NVLink 240 GB/s, NVS/0-0 to DEV/0-7000 \d[\d.]* MB, back \d[\d.]* MB"))

    def test_a_killed_rank_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"RINGLET_MACHINE": str(path_of("dgx_a100_xla")),
                           "RINGLET_TRAFFIC_DIR": folder}
            holder = self.start(support.FAULT_RANK, "id", **environment)
            text = holder.wait_for("^ID ").split()[1]
            ranks = [self.start(support.FAULT_RANK, "join", text, rank, 3, 10**9, 1000,
                                RINGLET_LOCAL_RANK=str(rank), **environment) for rank in range(3)]
            ranks[0].wait_for("^OP 3")
            ranks[1].kill()
            for rank in (ranks[0], ranks[2]):
                rank.wait_for("^ERROR")
                rank.finish()
            holder.finish()
            report = self.run_to_end(TOOL, "traffic", folder, "--json")
            self.assertEqual(report.status, 1, report.text())
            result = json.loads("\n".join(report.lines))
            self.assertEqual(result["communicators"][0]["missing_ranks"], [1])
            self.assertRegex(" ".join(result["findings"]), r"the files of 1 of 3 ranks are missing.*: 1\b")


def add_machine(machine):
    name = "test_all_reduce_on_" + re.sub(r"\W", "_", machine)
    setattr(Traffic, name, lambda self: self.check_machine(machine))


for one in COMPLETE:
    add_machine(one)

if __name__ == "__main__":
    support.main()
