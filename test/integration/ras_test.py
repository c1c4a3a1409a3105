#!/usr/bin/env python3
"""Tests RAS: the answers to clients of NCCL's protocol about hanging ranks, and its safety against
hostile clients.

    ras_test.py BUILD_DIR

The parser of Ray Train runs if a Python of the build folder has it; otherwise that test is skipped.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import support
from support import FAULT_RANK, TOOL
from watch_test import FAULTY, SIZE, Hang, free_port

RAY = """
import json, sys
from ray.train.v2._internal.callbacks.nccl_ras import parse_ras_schema, run_ncclras
asked = run_ncclras("ncclras", 8.0)
assert asked["ok"], asked
report = parse_ras_schema(asked["stdout"])
print(json.dumps({"counts": report.comm_op_counts, "status": report.comm_rank_status,
                  "mismatched": sorted(report.mismatched_comms), "healthy": report.healthy}))
"""
# pip generates this from the package's entry point.
CLIENT = f"""#!{sys.executable}
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).resolve().parents[2] / "python")!r})
from ringlet._tool import ncclras
sys.exit(ncclras())
"""
STRANGERS = 1000
CLIENTS_MAX = 64  # RasServer::kClientsMax


class Ras(Hang):
    settings = {"RINGLET_TIMEOUT": "600"}

    def report_once(self, wanted):
        """Returns the JSON report after `wanted`, a function of its only communicator, is true."""
        deadline = time.monotonic() + support.TIMEOUT_S
        while time.monotonic() < deadline:
            text = self.ras("--json")
            communicators = json.loads(text)["communicators"]
            if communicators and wanted(communicators[0]):
                return text, communicators[0]
        raise AssertionError(f"no such report: {text}")

    def say(self, words):
        """Returns the server's answer to these words, up to its end."""
        with socket.create_connection(("127.0.0.1", self.port), support.TIMEOUT_S) as client:
            client.sendall(words)
            heard = b""
            while piece := client.recv(65536):
                heard += piece
        return heard.decode()


def counts(communicator, call):
    return {rank["rank"]: rank["collective_counts"][call] for rank in communicator["ranks"]}


def is_behind(communicator):
    """True if all ranks are at their hang: the faulty one has not called the sixth operation."""
    return counts(communicator, "AllReduce") == {0: 6, 1: 5, 2: 6} and communicator["findings"]


class Reports(Ras):
    def test_a_rank_that_is_behind_is_named(self):
        ranks = self.start_hang("all_reduce", "skip", **self.settings)
        _, communicator = self.report_once(is_behind)
        self.assertIn(f"rank {FAULTY} (host", communicator["findings"][0])
        text = self.ras()
        self.assertIn(f"managed by process {ranks[FAULTY].pid} on node", text)
        self.assertRegex(text, rf"Rank {FAULTY} -- GPU {FAULTY} managed")
        self.assertIn("AllReduce operation counts", text)
        for rank in ranks:
            rank.kill()

    def test_a_stopped_rank_is_reported_missing(self):
        ranks = self.start_hang("barrier", "stop", **self.settings)
        _, communicator = self.report_once(
            lambda one: [rank["rank"] for rank in one["missing_ranks"]] == [FAULTY]
            and any(re.search(rf"^rank {FAULTY} \(host.*is stopped", text) for text in one["findings"]))
        self.assertTrue(communicator["missing_ranks"][0]["status"]["unresponsive"])
        for rank in ranks:
            rank.signal(signal.SIGCONT)
            rank.kill()

    def test_failed_ranks_still_report_the_cause(self):
        ranks = self.start_hang("all_gather", "count", **self.settings)
        for rank in self.others(ranks):
            rank.wait_for("^ERROR")
        _, communicator = self.report_once(
            lambda one: all(rank["status"]["async_error"] for rank in one["ranks"]))
        self.assertEqual(communicator["missing_ranks"], [])
        self.assertRegex(self.ras(), rf"rank {FAULTY} called all_gather of 9 float")
        for rank in ranks:
            rank.kill()

    def test_commands_may_be_written_by_hand(self):
        ranks = self.start_hang("all_reduce", "skip", **self.settings)
        self.assertIn("Job summary", self.say(b"verbose status\r\n"))
        self.assertTrue(self.say(b"client protocol 2\ntimeout 1\nnonsense\nSET FORMAT json\nstatus\n")
                        .startswith("SERVER PROTOCOL 2\nOK\nERROR: Unknown command nonsense\nOK\n{\n"))
        for rank in ranks:
            rank.kill()

    def with_client(self):
        """Returns an environment with the command `ncclras`, as after pip install, and the job."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        client = pathlib.Path(folder.name) / "ncclras"
        client.write_text(CLIENT)
        client.chmod(0o755)
        path = os.pathsep.join((folder.name, str(pathlib.Path(TOOL).parent), os.environ["PATH"]))
        return {**os.environ, "PATH": path, "NCCL_RAS_ADDR": f"localhost:{self.port}"}

    def test_the_package_provides_ncclras(self):
        ranks = self.start_hang("all_reduce", "skip", **self.settings)
        self.report_once(is_behind)
        ask = ["ncclras", "-h", "localhost", "-p", str(self.port), "-t", "8"]
        ran = subprocess.run([*ask, "-f", "json"], capture_output=True, text=True, env=self.with_client())
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(counts(json.loads(ran.stdout)["communicators"][0], "AllReduce"), {0: 6, 1: 5, 2: 6})
        ran = subprocess.run(ask, capture_output=True, text=True, env=self.with_client())
        self.assertIn("Job summary", ran.stdout)
        ran = subprocess.run(["ncclras", "-p", str(free_port())], capture_output=True, text=True, env=self.with_client())
        self.assertEqual((ran.returncode, ran.stdout), (1, ""), ran.stderr)
        for rank in ranks:
            rank.kill()

    def test_rays_detector_finds_the_hang(self):
        python = support.python_with("ray.train.v2._internal.callbacks.nccl_ras")
        if python is None:
            self.skipTest("no Python here has ray[train]: ./ringlet.sh test --clients installs it")
        ranks = self.start_hang("all_reduce", "skip", **self.settings)
        _, communicator = self.report_once(is_behind)
        ran = subprocess.run([python, "-c", RAY], capture_output=True, text=True, env=self.with_client())
        self.assertEqual(ran.returncode, 0, ran.stderr)
        report = json.loads(ran.stdout)
        name = communicator["hash"]
        self.assertEqual(report["mismatched"], [name])
        self.assertFalse(report["healthy"])
        self.assertEqual(report["status"][name], {str(rank): "RUNNING" for rank in range(SIZE)})
        self.assertEqual({rank: calls["AllReduce"] for rank, calls in report["counts"][name].items()},
                         {"0": 6, "1": 5, "2": 6})
        for rank in ranks:
            rank.kill()


class ForeignServer(threading.Thread):
    """A RAS server as described in NCCL's manual: lines of text in any case, each with an answer of
    one line. STATUS ends with a report and the end of the connection; MONITOR sends events until
    one side closes."""

    def __init__(self, commands):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.commands = commands  # beside its greeting: commands in lower case, and answers
        self.heard = []

    def run(self):
        with self.listener:
            client, _ = self.listener.accept()
        with client, client.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                self.heard.append(line.rstrip("\n"))
                words = line.lower().split()
                if words[:2] == ["client", "protocol"]:
                    client.sendall(b"SERVER PROTOCOL 2\n")
                    continue
                known = next((text for name, text in self.commands.items()
                              if " ".join(words).startswith(name)), None)
                if known is None:
                    client.sendall(f"ERROR: Unknown command {line}".encode())
                    continue
                for byte in known.encode():  # pieces of any size arrive
                    client.sendall(bytes([byte]))
                if words[0] in ("status", "verbose", "monitor"):
                    return


class Foreign(unittest.TestCase):
    """`ringlet ras` as the client of a foreign server."""

    report = "Job summary\n===========\n\n  4 processes, \u2713\n"

    def ask(self, commands, *options):
        server = ForeignServer(commands)
        server.start()
        ran = subprocess.run([TOOL, "ras", "-p", str(server.port), *options], capture_output=True,
                             text=True, timeout=support.TIMEOUT_S)
        server.join(support.TIMEOUT_S)
        self.assertFalse(server.is_alive())
        return ran, server.heard

    def test_a_foreign_report_is_shown_unchanged(self):
        ran, heard = self.ask({"status": self.report})
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, self.report, ""))
        self.assertEqual(heard, ["CLIENT PROTOCOL 2", "STATUS"])

    def test_the_format_and_the_timeout_are_sent_first(self):
        ran, heard = self.ask({"timeout": "OK\n", "set format": "OK\n", "verbose status": '{"nccl_version": "2.30.7"}\n'},
                              "-v", "--json", "-t", "3")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(json.loads(ran.stdout), {"nccl_version": "2.30.7"})
        self.assertEqual(heard, ["CLIENT PROTOCOL 2", "TIMEOUT 3", "SET FORMAT json", "VERBOSE STATUS"])

    def test_foreign_events_are_shown_until_the_server_ends(self):
        event = "[2025-12-19 13:07:07] PEER_DEAD: Process 1524345 on node 172.16.64.245 managing GPU 1\n"
        ran, heard = self.ask({"monitor": "OK\n" + event}, "--monitor", "lifecycle")
        self.assertEqual((ran.returncode, ran.stdout), (1, event), ran.stderr)
        self.assertEqual(heard[-1], "MONITOR lifecycle")

    def test_a_server_too_old_for_a_command_is_named(self):
        server = ForeignServer({"status": self.report})  # NCCL before 2.28 does not support formats
        server.start()
        ran = subprocess.run([TOOL, "ras", "-p", str(server.port), "--json"], capture_output=True,
                             text=True, timeout=support.TIMEOUT_S)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn('the answer to "SET FORMAT json" is "ERROR: Unknown command', ran.stderr)


class Monitor(Ras):
    def test_events_show_a_process_that_stops_continues_and_dies(self):
        # The client's server is not the stopped one.
        self.port = free_port()
        holder = self.start(FAULT_RANK, "id")
        text = holder.wait_for("^ID ").split()[1]
        ranks = [self.start(FAULT_RANK, "hang", text, rank, SIZE, "all_reduce",
                            "skip" if rank == FAULTY else "none", RINGLET_HEARTBEAT_TIMEOUT="0",
                            NCCL_RAS_ADDR=f"127.0.0.1:{self.port}",
                            NCCL_RAS_ENABLE="0" if rank == FAULTY else "1", **self.settings)
                 for rank in range(SIZE)]
        for rank in ranks:
            rank.wait_for("^AT FAULT")
        monitor = self.start(TOOL, "ras", "-p", self.port, "--monitor", "all")
        who = f"Process {ranks[FAULTY].pid} on node .* managing GPU {FAULTY}"
        # A client without an event has no output yet, so repeat the state until it has one.
        deadline = time.monotonic() + support.TIMEOUT_S
        while not monitor.find("PEER_UNRESPONSIVE") and time.monotonic() < deadline:
            ranks[FAULTY].signal(signal.SIGSTOP)
            self.report_once(lambda one: one["missing_ranks"])
            ranks[FAULTY].signal(signal.SIGCONT)
            self.report_once(lambda one: not one["missing_ranks"])
        monitor.wait_for(f"PEER_UNRESPONSIVE: {who}")
        monitor.wait_for(f"PEER_RECOVERED: {who}")
        ranks[FAULTY].kill()
        monitor.wait_for(f"PEER_DEAD: {who}")
        for rank in self.others(ranks):
            rank.kill()
        self.assertEqual(monitor.wait(), 1)


class Hostile(Ras):
    """Strangers cost the job only the time of the answering thread."""

    def stranger(self, words):
        client = socket.socket()
        client.setblocking(False)
        try:
            client.connect(("127.0.0.1", self.port))
        except BlockingIOError:
            pass
        self.addCleanup(client.close)
        client.setblocking(True)
        client.settimeout(support.TIMEOUT_S)
        try:
            client.sendall(words)
        except OSError:
            pass  # the server closed the connection

    def test_hostile_clients_do_not_disturb_the_job(self):
        ranks = self.start_hang("all_reduce", "late", **self.settings)
        descriptors = [len(os.listdir(f"/proc/{rank.pid}/fd")) for rank in ranks]
        for number in range(STRANGERS):
            self.stranger((b"", b"\xff\x00" * 700, b"STATU", b"x" * 5000 + b"\n",
                           b"MONITOR\n", b"TIMEOUT 99999999999999999999\n" * 70)[number % 6])
        self.assertIn("Job summary", self.ras())
        for rank, before in zip(ranks, descriptors):
            held = len(os.listdir(f"/proc/{rank.pid}/fd"))
            self.assertLessEqual(held, before + CLIENTS_MAX + 8)  # last messages, listeners
        self.ranks_end(ranks)

    def ranks_end(self, ranks):
        """The faulty rank continues at the end of its input, and so do the others."""
        ranks[FAULTY].process.stdin.close()
        for rank in ranks:
            rank.wait_for("^DONE")
        for rank in ranks:
            rank.kill()

    def test_a_port_of_another_program_is_a_warning(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            taken = "127.0.0.1:%d" % listener.getsockname()[1]
            ranks = self.start_hang("all_reduce", "skip", NCCL_RAS_ADDR=taken, **self.settings)
            self.found_by_status(ranks, "has not called")
            for rank in ranks:
                self.assertIn("no RAS client is answered", rank.text())
        for rank in ranks:
            rank.kill()


if __name__ == "__main__":
    support.main()
