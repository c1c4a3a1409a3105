#!/usr/bin/env python3
"""Creates hangs, and checks the reports of `ringlet status`, RAS, the error and the traces on each.

    watch_test.py BUILD_DIR

For each pair of operation and fault it prints the row of a table for docs/howto/debug-a-hang.md.
Every wait is for an answer of `ringlet status` or a line of output.
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time

import support
from support import FAULT_RANK, TOOL

SIZE = 3
FAULTY = 1
OPERATIONS = ("all_reduce", "all_gather", "broadcast", "reduce_scatter", "barrier", "send_receive")
# Timeout of an operation, after which the ranks fail. It leaves time for `ringlet status`.
TIMEOUT_S = 6


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


METRICS = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = text_string_to_metric_families(sys.stdin.read())
print(json.dumps([(s.name, s.labels, s.value) for family in families for s in family.samples]))
"""


def answer_to_another_user(pid):
    """Returns the exit status of a child that queries the process as another user: 0 when the
    process closes the connection."""
    with open("/proc/net/unix", encoding="utf-8") as names:
        (name,) = {line.split(" @")[1].strip() for line in names if f" @ringlet.{pid}." in line}
    child = os.fork()
    if child != 0:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 2
    try:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        with socket.socket(socket.AF_UNIX) as asker:
            asker.settimeout(support.TIMEOUT_S)
            asker.connect("\0" + name)
            try:
                asker.sendall(b"status\n")
                status = 0 if asker.recv(1) == b"" else 1
            except (BrokenPipeError, ConnectionResetError):
                status = 0
    finally:
        os._exit(status)


class Hang(support.Case):
    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def tool(self, *arguments, status=None):
        ran = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True,
                             timeout=support.TIMEOUT_S, env=support.clean_environment())
        if status is not None:
            self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran

    def start_hang(self, operation, fault, others="none", count=8, **settings):
        self.dumps = self.folder()
        self.port = free_port()
        settings = {"RINGLET_TIMEOUT": str(TIMEOUT_S), "RINGLET_DUMP_DIR": self.dumps,
                    "RINGLET_HEARTBEAT_TIMEOUT": "0",
                    "NCCL_RAS_ADDR": f"127.0.0.1:{self.port}", **settings}
        holder = self.start(FAULT_RANK, "id")
        text = holder.wait_for("^ID ").split()[1]
        ranks = [self.start(FAULT_RANK, "hang", text, rank, SIZE, operation,
                            fault if rank == FAULTY else others, count, **settings)
                 for rank in range(SIZE)]
        for rank in ranks:
            rank.wait_for("^(AT FAULT|ERROR)")
        return ranks

    def finding_of(self, ask, wanted, alone=False):
        """Returns the first finding of `ask` that matches `wanted`; `alone`: the only one.

        The ranks have announced the fault, not that they are in it. The state of a busy one may
        still be unknown, and so may that of the others after the failure of the communicator.
        """
        deadline = time.monotonic() + support.TIMEOUT_S
        while time.monotonic() < deadline:
            findings = [one for one in ask() if not one.startswith("the state of ")]
            found = [finding for finding in findings if re.search(wanted, finding)]
            if found and (not alone or found == findings):
                return found[0]
        raise AssertionError(f"there is no {wanted!r} in {findings}")

    def found_by_status(self, ranks, wanted, alone=False):
        def ask():
            ran = self.tool("status", ranks[0].pid, "--json")
            self.assertIn(ran.returncode, (0, 1), ran.stderr)
            findings = [finding for job in json.loads(ran.stdout) for finding in job["findings"]]
            self.assertEqual(bool(findings), ran.returncode == 1, ran.stdout)
            return findings
        return self.finding_of(ask, wanted, alone)

    def ras(self, *arguments):
        return self.tool("ras", "-p", self.port, *arguments, status=0).stdout

    def found_by_ras(self, wanted=rf"rank {FAULTY} \(host"):
        return self.finding_of(lambda: [
            finding for communicator in json.loads(self.ras("--json"))["communicators"]
            for finding in communicator["findings"]], wanted)

    def errors(self, ranks):
        return [rank.wait_for("^ERROR") for rank in ranks]

    def others(self, ranks):
        return [rank for number, rank in enumerate(ranks) if number != FAULTY]

    def compare_dumps(self):
        return json.loads(self.tool("trace", self.dumps, "--json", status=1).stdout)[0]

    def row(self, operation, fault, *cells):
        print(" | ".join(["", operation, fault, *cells, ""]).strip(), flush=True)


class Skipped(Hang):
    """All three reports name a rank that does not call an operation."""

    def check(self, operation, fault, activity):
        ranks = self.start_hang(operation, fault)
        who = f"rank {FAULTY} "
        found = self.found_by_status(ranks, rf"{who}\(host.* has not called .*{activity}")
        ras = self.found_by_ras()
        errors = self.errors(self.others(ranks))
        for error in errors:
            self.assertIn(who, error)
            self.assertIn("has not called it", error)
        report = self.compare_dumps()
        self.assertIn(f"rank {FAULTY} never called it", report["divergence"]["text"])
        self.row(operation, fault, found, ras, errors[0], report["divergence"]["text"])
        ranks[FAULTY].kill()

    def test_a_rank_that_waits_elsewhere_is_named(self):
        for operation in OPERATIONS[:5]:
            with self.subTest(operation):
                self.check(operation, "skip", "it sleeps or waits elsewhere")

    def test_a_rank_in_an_endless_loop_is_named(self):
        for operation in OPERATIONS[:5]:
            with self.subTest(operation):
                self.check(operation, "loop", "it computes")


class Diverged(Hang):
    """A rank with another count."""

    def test_the_error_and_the_traces_name_the_divergence(self):
        for operation in OPERATIONS[:4]:
            with self.subTest(operation):
                ranks = self.start_hang(operation, "count")
                errors = self.errors(self.others(ranks))  # a root may be done
                for error in errors:
                    self.assertRegex(error, r"rank 1 called \w+ of 9 float")
                found = self.found_by_status(ranks, "the communicator has failed")
                ras = self.found_by_ras("rank 1 called")
                report = self.compare_dumps()
                # A rank that receives the failure first does not call it any more.
                self.assertRegex(report["divergence"]["text"], r"operation 5: .*\bof 8 float")
                self.assertRegex(report["divergence"]["text"], r"rank 1 called \w+ of 9 float")
                self.row(operation, "count", found, ras, errors[0],
                         report["divergence"]["text"])


class Stopped(Hang):
    """A stopped rank cannot answer: the system and its peers report it."""

    def test_the_faulty_rank_is_named(self):
        for operation in OPERATIONS[:5]:
            with self.subTest(operation):
                ranks = self.start_hang(operation, "stop")
                found = self.found_by_status(ranks, rf"rank {FAULTY} \(host.*is stopped: kill -CONT")
                ras = self.found_by_ras()
                errors = self.errors(self.others(ranks))
                for error in errors:
                    self.assertRegex(error, rf"rank {FAULTY} .*does not answer: its process is stopped")
                # It cannot leave a trace, but those of the others contain their failure's reason.
                report = self.compare_dumps()
                traced = next(one for one in report["findings"] if "has failed" in one)
                self.assertRegex(traced, rf"rank {FAULTY} .*does not answer: its process is stopped")
                ranks[FAULTY].signal(signal.SIGCONT)
                self.row(operation, "stop", found, ras, errors[0], traced)
                ranks[FAULTY].kill()


class Deadlock(Hang):
    """The faulty rank takes two communicators in the other order than the others."""

    def test_both_communicators_are_named(self):
        for operation in ("all_reduce", "all_gather", "reduce_scatter", "barrier"):
            with self.subTest(operation):
                ranks = self.start_hang(operation, "swap", others="order")
                found = self.found_by_status(ranks, "has not called .* of communicator")
                self.found_by_status(
                    ranks, "call the operations of several communicators in the same order")
                ras = self.found_by_ras()
                errors = self.errors(self.others(ranks))
                for error in errors:
                    self.assertRegex(error, rf"rank {FAULTY} .*has not called it")
                reports = json.loads(self.tool("trace", self.dumps, "--json", status=1).stdout)
                (traced,) = [report["divergence"]["text"] for report in reports
                             if report["divergence"] and "operation 5" in report["divergence"]["text"]]
                self.assertIn(f"rank {FAULTY} never called it", traced)
                self.row(operation, "deadlock", found, ras, errors[0], traced)
                for rank in ranks:
                    rank.kill()


class Slow(Hang):
    """A rank whose connections send 20 kB/s, as behind a broken NIC."""

    def test_the_faulty_rank_is_named(self):
        slow = rf"rank {FAULTY} \(host .*\) sends slowly to rank [02], which waits for it: [1-9]\d* bytes"
        for operation in ("all_reduce", "all_gather", "reduce_scatter"):
            with self.subTest(operation):
                ranks = self.start_hang(operation, "slow", count=200_000, RINGLET_LINKS="tcp")
                found = self.found_by_status(ranks, slow, alone=True)
                ras = self.found_by_ras()
                errors = self.errors(self.others(ranks))
                for error in errors:
                    self.assertRegex(error, slow)
                traced = next(one for one in self.compare_dumps()["findings"] if "has failed" in one)
                self.assertRegex(traced, slow)
                self.row(operation, "slow", found, ras, errors[0], traced)
                for rank in ranks:
                    rank.kill()


class Messages(Hang):
    """Rank 2 waits for a message of the faulty rank."""

    def check(self, fault, finding, error, **arguments):
        ranks = self.start_hang("send_receive", fault, **arguments)
        found = self.found_by_status([ranks[2]], finding)
        ras = self.found_by_ras(f"rank {FAULTY} ")
        told = ranks[2].wait_for("^ERROR")
        self.assertRegex(told, rf"rank {FAULTY} .*{error}")
        traced = next(one for one in self.compare_dumps()["findings"] if "has failed" in one)
        self.assertRegex(traced, rf"rank {FAULTY} .*{error}")
        self.row("send_receive", fault, found, ras, told, traced)
        ranks[FAULTY].signal(signal.SIGCONT)
        for rank in ranks:
            rank.kill()

    def test_a_rank_that_does_not_send_is_named(self):
        for fault in ("skip", "loop"):
            with self.subTest(fault):
                self.check(fault, rf"waits for a message with rank {FAULTY} \(host",
                           "is in no operation: it has not called its side of the message")

    def test_a_stopped_rank_is_named(self):
        self.check("stop", rf"rank {FAULTY} \(host.*is stopped", "does not answer: its process is stopped")

    def test_a_rank_that_sends_slowly_is_named(self):
        self.check("slow", rf"rank {FAULTY} \(host.*sends slowly", "sends slowly to rank 2, which waits for it",
                   count=200_000, RINGLET_LINKS="tcp")

    def test_another_count_is_named(self):
        ranks = self.start_hang("send_receive", "count")
        # A rank may be done after its whole message.
        errors = self.errors([ranks[FAULTY]])
        self.assertIn(f"rank {FAULTY} called a message of 9 float to rank", errors[0])
        found = self.found_by_status(ranks, "has failed")
        ras = self.found_by_ras(f"rank {FAULTY} called")
        traced = next(one for one in self.compare_dumps()["findings"] if "has failed" in one)
        self.assertIn(f"rank {FAULTY} called a message of 9 float", traced)
        self.row("send_receive", "count", found, ras, errors[0], traced)
        for rank in ranks:
            rank.kill()


class OnRequest(Hang):
    def test_traces_are_written_while_ranks_hang(self):
        ranks = self.start_hang("all_reduce", "skip", RINGLET_TIMEOUT="600")
        self.found_by_status(ranks, "has not called")
        folder = self.folder()
        for rank in ranks:
            self.tool("status", rank.pid, "--dump", folder, status=0)
        names = sorted(os.listdir(folder))
        self.assertEqual(len(names), SIZE)
        report = json.loads(self.tool("trace", folder, "--json", status=1).stdout)[0]
        self.assertIn("rank 1 never called it", report["divergence"]["text"])
        picture = pathlib.Path(folder) / "picture"
        self.tool("trace", folder, "--perfetto", picture, status=1)
        self.assertIn("traceEvents", json.loads(picture.read_text()))
        for rank in ranks:
            rank.kill()

    def test_metrics_are_open_metrics(self):
        python = support.python_with("prometheus_client.openmetrics.parser")
        if python is None:
            self.skipTest("no Python here has prometheus_client: ./ringlet.sh test installs it")
        ranks = self.start_hang("all_reduce", "skip", RINGLET_TIMEOUT="600")
        self.found_by_status(ranks, "has not called")
        text = self.tool("status", ranks[0].pid, "--metrics", status=0).stdout
        ran = subprocess.run([python, "-c", METRICS], input=text, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        samples = json.loads(ran.stdout)
        self.assertEqual([value for name, labels, value in samples
                          if name == "ringlet_operation_size_bytes_count"
                          and labels["call"] == "all_reduce"], [6])
        self.assertEqual([value for name, _, value in samples
                          if name == "ringlet_operations_in_progress"], [1])
        for rank in ranks:
            rank.kill()

    def test_another_user_is_not_answered(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        ranks = self.start_hang("all_reduce", "skip", RINGLET_TIMEOUT="600")
        self.found_by_status(ranks, "has not called")
        self.assertEqual(answer_to_another_user(ranks[0].pid), 0)
        for rank in ranks:
            rank.kill()


if __name__ == "__main__":
    support.main()
