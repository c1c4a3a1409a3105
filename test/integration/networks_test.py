#!/usr/bin/env python3
"""Ranks in two network namespaces, joined by a cable: hosts as they are, on one machine.

    networks_test.py BUILD_DIR

Needs iproute2, and fails without; and the right to make network namespaces, without which ctest says
that it did not run.
"""
import os
import shutil
import subprocess
import time

import support
from support import FAULT_RANK


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Namespaces(support.Case):
    """Two namespaces, `left` and `right`; what joins them is for the test to lay."""

    def setUp(self):
        super().setUp()
        if not shutil.which("ip"):
            self.fail("there is no program `ip` here, with which networks are laid: install iproute2")
        self.names = {side: f"ringlet-{os.getpid()}-{side}" for side in ("left", "right")}
        try:
            for name in self.names.values():
                ip("netns", "add", name)
                self.addCleanup(subprocess.run, ["ip", "netns", "del", name], check=False)
                ip("-n", name, "link", "set", "lo", "up")  # the way to its own addresses
        except OSError as error:
            self.skipTest(f"no right to make network namespaces here: {error}")

    def lay(self, interface, left, right):
        """A cable between the two, with an address for each end."""
        ip("link", "add", interface, "netns", self.names["left"], "type", "veth", "peer", "name",
           interface, "netns", self.names["right"])
        for side, address in (("left", left), ("right", right)):
            self.give(side, interface, address)
        for side in ("left", "right"):
            self.await_up(side, interface)

    def lay_nowhere(self, side, interface, address):
        """An interface that is up, and at whose other end nobody answers."""
        ip("-n", self.names[side], "link", "add", interface, "type", "veth", "peer", "name",
           f"{interface}-end")
        ip("-n", self.names[side], "link", "set", f"{interface}-end", "up")
        self.give(side, interface, address)
        self.await_up(side, interface)

    def await_up(self, side, interface):
        """Until the kernel has seen the cable: an interface without one is advertised by nobody."""
        give_up = time.monotonic() + support.TIMEOUT_S
        while " UP " not in subprocess.run(
                ["ip", "-n", self.names[side], "-br", "link", "show", interface],
                capture_output=True, text=True, check=True).stdout:
            self.assertLess(time.monotonic(), give_up, f"{interface} does not come up")

    def give(self, side, interface, address):
        # No duplicate address detection: an address of IPv6 would not be usable for a second.
        ip("-n", self.names[side], "addr", "add", address, "dev", interface,
           *(["nodad"] if ":" in address else []))
        ip("-n", self.names[side], "link", "set", interface, "up")

    def start_in(self, side, *arguments, **settings):
        # Hosts of their own: in one they would take the UNIX sockets of each other.
        return self.start("/usr/bin/env", "ip", "netns", "exec", self.names[side], *arguments,
                          RINGLET_DEBUG="INFO", NCCL_HOSTID=side, **settings)

    def form(self, **settings):
        """A rank in each namespace; the root in the left one. Gives the programs."""
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

    def test_two_hosts_joined_by_a_cable(self):
        self.lay("ringlet0", "10.77.0.1/24", "10.77.0.2/24")
        self.assertRegex(self.form()[0], r"^10\.77\.0\.1:")

    def test_two_hosts_with_ipv6_alone(self):
        self.lay("ringlet0", "fd77::1/64", "fd77::2/64")
        addresses = self.form()
        self.assertRegex(addresses[0], r"^\[fd77::1\]:")
        self.assertFalse([one for one in addresses if not one.startswith("[")], "there is no IPv4")

    def test_the_first_address_of_each_leads_nowhere(self):
        for side, number in (("left", 1), ("right", 2)):
            self.lay_nowhere(side, "dead0", f"10.66.0.{number}/24")
        self.lay("ringlet0", "10.77.0.1/24", "10.77.0.2/24")
        addresses = self.form(NCCL_SOCKET_IFNAME="dead0,ringlet0")
        self.assertRegex(addresses[0], r"^10\.66\.0\.1:", "the dead one is advertised first")
        self.assertRegex(addresses[1], r"^10\.77\.0\.1:")


if __name__ == "__main__":
    support.main()
