#!/usr/bin/env python3
"""Runs ranks in two network namespaces, joined by a cable: two hosts on one machine. They form, and
`ringlet status` and RAS of one host report a hang on the other.

    networks_test.py BUILD_DIR

Needs iproute2, and fails without. ctest skips it without the right to create network namespaces.
"""
import json
import os
import shutil
import signal
import subprocess
import time

import support
from support import FAULT_RANK, TOOL
from watch_test import Hang, free_port


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Namespaces(Hang):
    """Creates two namespaces, `left` and `right`. The test joins them."""

    def setUp(self):
        super().setUp()
        if not shutil.which("ip"):
            self.fail("there is no program `ip` here, with which networks are laid: install iproute2")
        self.names = {side: f"ringlet-{os.getpid()}-{side}" for side in ("left", "right")}
        try:
            for name in self.names.values():
                ip("netns", "add", name)
                self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
                ip("-n", name, "link", "set", "lo", "up")  # the path to its own addresses
        except OSError as error:
            self.skipTest(f"no right to make network namespaces here: {error}")

    def lay(self, interface, left, right):
        """Joins the two by a cable, with an address for each end."""
        ip("link", "add", interface, "netns", self.names["left"], "type", "veth", "peer", "name",
           interface, "netns", self.names["right"])
        for side, address in (("left", left), ("right", right)):
            self.give(side, interface, address)
        for side in ("left", "right"):
            self.await_up(side, interface)

    def lay_nowhere(self, side, interface, address):
        """Adds an interface that is up, with a silent other end."""
        ip("-n", self.names[side], "link", "add", interface, "type", "veth", "peer", "name",
           f"{interface}-end")
        ip("-n", self.names[side], "link", "set", f"{interface}-end", "up")
        self.give(side, interface, address)
        self.await_up(side, interface)

    def await_up(self, side, interface):
        """Waits until the kernel has seen the cable; without it the interface is not advertised."""
        give_up = time.monotonic() + support.TIMEOUT_S
        while " UP " not in subprocess.run(
                ["ip", "-n", self.names[side], "-br", "link", "show", interface],
                capture_output=True, text=True, check=True).stdout:
            self.assertLess(time.monotonic(), give_up, f"{interface} does not come up")

    def give(self, side, interface, address):
        # Without duplicate address detection, because it delays an address of IPv6 by a second.
        ip("-n", self.names[side], "addr", "add", address, "dev", interface,
           *(["nodad"] if ":" in address else []))
        ip("-n", self.names[side], "link", "set", interface, "up")

    def start_in(self, side, *arguments, **settings):
        # Separate hosts: on one host they would use each other's UNIX sockets.
        return self.start("/usr/bin/env", *self.words_in(side), *arguments, RINGLET_DEBUG="INFO",
                          NCCL_HOSTID=side, **settings)

    def words_in(self, side):
        """Returns the command prefix for a program in a namespace, on a host of that name."""
        return ("ip", "netns", "exec", self.names[side], "unshare", "-u", "sh", "-c",
                'hostname "$0" && exec "$@"', side)


class Joined(Namespaces):
    def form(self, **settings):
        """Starts a rank in each namespace, with the root in the left one. Returns the programs."""
        holder = self.start_in("left", FAULT_RANK, "id", **settings)
        text = holder.wait_for("^ID ").split()[1]
        holder.wait_for("^WAITING")
        ranks = [self.start_in(side, FAULT_RANK, "join", text, rank, 2, 3, **settings)
                 for rank, side in enumerate(("left", "right"))]
        for rank in ranks:
            self.assertIsNotNone(rank.wait_for("^(DONE|ERROR)"))
            self.assertIsNone(rank.find("^ERROR"), rank.text())
            rank.wait_for("^GONE")
            self.assertEqual(rank.finish(), 0)
        addresses = [line.split()[1] for line in holder.lines if line.startswith("ADDRESS")]
        self.assertEqual(holder.finish(), 0)
        return addresses

    def test_two_hosts_joined_by_a_cable_form(self):
        self.lay("ringlet0", "10.77.0.1/24", "10.77.0.2/24")
        self.assertRegex(self.form()[0], r"^10\.77\.0\.1:")

    def test_two_hosts_with_ipv6_alone_form(self):
        self.lay("ringlet0", "fd77::1/64", "fd77::2/64")
        addresses = self.form()
        self.assertRegex(addresses[0], r"^\[fd77::1\]:")
        self.assertFalse([one for one in addresses if not one.startswith("[")], "there is no IPv4")

    def test_hosts_form_although_the_first_address_is_dead(self):
        for side, number in (("left", 1), ("right", 2)):
            self.lay_nowhere(side, "dead0", f"10.66.0.{number}/24")
        self.lay("ringlet0", "10.77.0.1/24", "10.77.0.2/24")
        addresses = self.form(NCCL_SOCKET_IFNAME="dead0,ringlet0")
        self.assertRegex(addresses[0], r"^10\.66\.0\.1:", "the dead one is advertised first")
        self.assertRegex(addresses[1], r"^10\.77\.0\.1:")


class OtherHost(Namespaces):
    """Runs two ranks on each host, and each host's two in a communicator of their own. The last
    rank, rank 1 of the right host's, has a fault. The query is on the left host."""

    def hang_there(self, fault):
        self.lay("ringlet0", "10.77.0.1/24", "10.77.0.2/24")
        self.port = free_port()
        settings = {"RINGLET_TIMEOUT": "600", "RINGLET_HEARTBEAT_TIMEOUT": "0",
                    "NCCL_RAS_ADDR": f"127.0.0.1:{self.port}"}
        holder = self.start_in("left", FAULT_RANK, "id", **settings)
        text = holder.wait_for("^ID ").split()[1]
        holder.wait_for("^WAITING")
        self.ranks = [self.start_in(side, FAULT_RANK, "hang", text, rank, 4, "all_reduce",
                                    f"half:{fault if rank == 3 else 'none'}", **settings)
                      for rank, side in enumerate(("left", "left", "right", "right"))]
        for rank in self.ranks:
            rank.wait_for("^(AT FAULT|ERROR)")
        for rank in self.ranks[:2]:
            rank.wait_for("^(DONE|ERROR)")
        self.assertEqual([rank.text() for rank in self.ranks if rank.find("^ERROR")], [])

    def tool(self, *arguments, status=None):
        ran = subprocess.run([*self.words_in("left"), TOOL, *map(str, arguments)], text=True,
                             capture_output=True, timeout=support.TIMEOUT_S,
                             env=support.clean_environment())
        if status is not None:
            self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran

    def status(self):
        """Returns, for each communicator, the number of ranks, their pids, and the findings."""
        return [(one["ranks"], [state["pid"] for state in one["states"]], one["findings"])
                for one in json.loads(self.tool("status", "--json").stdout)]

    def report(self):
        """Returns the same from RAS."""
        return [(one["size"], [rank["pid"] for rank in one["ranks"] + one["missing_ranks"]],
                 one["findings"]) for one in json.loads(self.ras("--json"))["communicators"]]

    def await_findings(self, ask, size, rank, wanted):
        """Waits for the findings `wanted` in a communicator of `size` ranks, with `rank`'s process.
        """
        give_up = time.monotonic() + support.TIMEOUT_S
        seen = []
        while time.monotonic() < give_up:
            seen = ask()
            if any(ranks == size and self.ranks[rank].pid in pids and findings == wanted
                   for ranks, pids, findings in seen):
                return
        self.fail(f"{wanted} is not what is found: {seen}")

    def test_a_rank_that_does_not_call_is_named_by_its_number_there(self):
        self.hang_there("skip")
        call = "all_reduce of 8 float max as operation"
        for ask in (self.status, self.report):
            self.await_findings(ask, 2, 2, [
                f"rank 1 (host right, pid {self.ranks[3].pid}) has not called {call} 5, where rank "
                f"0 waits: it is outside of any operation, the last was {call} 4"])

    def test_a_stopped_rank_is_named_by_both_its_numbers(self):
        self.hang_there("stop")
        for ask in (self.status, self.report):
            self.await_findings(ask, 4, 3, [f"rank 3 (host right, pid {self.ranks[3].pid}) does not "
                                            "answer: its process is stopped or cut off"])
            self.await_findings(ask, 2, 2, ["the state of rank 1 is unknown"])
        self.ranks[3].signal(signal.SIGCONT)


if __name__ == "__main__":
    support.main()
