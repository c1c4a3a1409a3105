#!/usr/bin/env python3
"""Tests ranks that are missing, die, or do not fit: the others end soon and name the rank.

    faults_test.py BUILD_DIR

The test prints times. Only hangs are failures, with a bound beyond any slow machine.
"""
import os
import random
import re
import signal
import time

import support
from support import FAULT_RANK

FOREVER = 10**12
# Bound for an error to reach all ranks: 2 s are expected, and machines are sometimes slow.
BOUND_S = 20


class FaultCase(support.Case):
    def make_id(self, **settings):
        """Returns a process that holds the root, and the id's text."""
        holder = self.start(FAULT_RANK, "id", **settings)
        text = holder.wait_for("^ID ").split()[1]
        holder.wait_for("^WAITING")
        return holder, text

    def changed_id(self, *words):
        return self.run_to_end(FAULT_RANK, *words).wait_for("^ID ").split()[1]

    # Gives each rank a connection of its own, for tests that must see its messages to the root.
    EACH = {"RINGLET_NODE_LEADER": "0"}

    def join(self, text, rank, size, *more, **settings):
        return self.start(FAULT_RANK, "join", text, rank, size, *more, **settings)

    def root_address(self, holder):
        host, port = holder.wait_for(r"^ADDRESS \d").split()[1].rsplit(":", 1)
        return host, int(port)

    def proxied(self, holder, text):
        """Returns a proxy before the root, and an id that leads to it."""
        proxy = support.Proxy(self.root_address(holder))
        self.addCleanup(proxy.close)
        return proxy, self.changed_id("reroute", text, proxy.address)

    def expect_errors(self, ranks, pattern, since):
        """Expects an error that matches `pattern` at the end of each of `ranks`."""
        for rank in ranks:
            line = rank.wait_for("^(ERROR|DONE)")
            self.assertRegex(line, pattern)
            self.assertRegex(line, "^ERROR")
        elapsed = time.monotonic() - since
        print(f"{self.id().split('.')[-1]}: all knew after {elapsed:.3f} s: {line}", flush=True)
        for rank in ranks:
            rank.wait_for("^GONE")
            self.assertFalse(support.maps_memory(rank.pid), "memory of a link is still mapped")
            self.assertEqual(rank.finish(), 1)
        self.assertLess(elapsed, BOUND_S)

    def why_no_libfabric(self):
        """Returns the reason why ranks cannot be linked over libfabric here, or None."""
        _, text = self.make_id()
        ranks = [self.join(text, rank, 2, 1, 1, RINGLET_LINKS="ofi") for rank in range(2)]
        line = [rank.wait_for("^(ERROR|JOINED)") for rank in ranks][0]
        if re.search("^ERROR.*(libfabric has no|without libfabric|cannot load)", line):
            return line
        return self.expect_success(ranks)

    def expect_success(self, ranks):
        for rank in ranks:
            rank.wait_for("^DONE")
            self.assertEqual(rank.finish(), 0, rank.text())


class Forming(FaultCase):
    def test_a_rank_that_never_starts_is_named(self):
        for shape in ("tree", "ring"):
            with self.subTest(shape=shape):
                _, text = self.make_id()
                since = time.monotonic()
                ranks = [self.join(text, rank, 4, RINGLET_INIT_TIMEOUT="2", RINGLET_BOOTSTRAP=shape)
                         for rank in (0, 1, 3)]
                self.expect_errors(ranks, r"timeout: .*waiting for rank 2\b", since)

    def test_several_missing_ranks_are_named(self):
        _, text = self.make_id()
        since = time.monotonic()
        ranks = [self.join(text, rank, 6, RINGLET_INIT_TIMEOUT="2") for rank in (0, 4)]
        self.expect_errors(ranks, r"ranks 1-3,5", since)

    def test_a_rank_killed_after_check_in_is_named(self):
        holder, text = self.make_id()
        ranks = []
        for rank in (0, 1, 2):
            proxy, rerouted = self.proxied(holder, text)
            ranks.append(self.join(rerouted, rank, 4, **self.EACH))
            proxy.wait_for_welcome()
        since = time.monotonic()
        ranks[1].signal(signal.SIGKILL)
        self.expect_errors([ranks[0], ranks[2]], r"peer lost: .*rank 1\b", since)

    def test_a_rank_stopped_while_it_joins_is_named_as_stopped(self):
        for settings in ({}, self.EACH):
            with self.subTest(**settings):
                holder, text = self.make_id()
                proxy, rerouted = self.proxied(holder, text)
                stopped = self.join(rerouted, 1, 2, **settings)
                proxy.wait_for_welcome()
                stopped.signal(signal.SIGSTOP)
                since = time.monotonic()
                other = self.join(text, 0, 2, RINGLET_INIT_TIMEOUT="2", **settings)
                self.expect_errors([other], r"timeout: .* is stopped \(by SIGSTOP or a debugger; "
                                            rf"kill -CONT {stopped.pid} resumes it\)", since)

    def test_all_members_report_the_death_of_the_root(self):
        holder, text = self.make_id()
        ranks = []
        for rank in (0, 2):
            proxy, rerouted = self.proxied(holder, text)
            ranks.append(self.join(rerouted, rank, 3, **self.EACH))
            proxy.wait_for_welcome()
        since = time.monotonic()
        holder.signal(signal.SIGKILL)
        self.expect_errors(ranks, r"peer lost: .*root", since)

    def test_a_rank_given_to_two_processes_is_named(self):
        _, text = self.make_id()
        since = time.monotonic()
        ranks = [self.join(text, rank, 3) for rank in (0, 1, 1)]
        self.expect_errors(ranks, r"invalid argument: .*rank 1 was given to two processes", since)

    def test_different_world_sizes_are_named(self):
        _, text = self.make_id()
        since = time.monotonic()
        ranks = [self.join(text, 0, 3), self.join(text, 1, 4)]
        self.expect_errors(ranks, r"invalid argument: .*world size (3.*4|4.*3)", since)

    def test_a_setting_that_must_agree_is_named(self):
        _, text = self.make_id()
        since = time.monotonic()
        ranks = [self.join(text, 0, 2, RINGLET_PIPE_BYTES="8192"), self.join(text, 1, 2)]
        self.expect_errors(ranks, r"invalid argument: .*RINGLET_PIPE_BYTES.*8192", since)

    def test_a_rank_beyond_the_world_is_refused(self):
        _, text = self.make_id()
        since = time.monotonic()
        self.expect_errors([self.join(text, 3, 3)], "rank 3 is not below the world size 3", since)

    def test_invalid_ids_are_refused(self):
        holder, text = self.make_id()
        flipped = text[:-40] + ("0" if text[-40] != "0" else "1") + text[-39:]
        for wrong in ("garbage", "ringlet1:", text[:-1], text[:-1] + "x", flipped,
                      "ringlet1:" + "0" * 256, "ringlet1:" + "5a" * 128):
            with self.subTest(wrong=wrong[:20]):
                since = time.monotonic()
                self.expect_errors([self.join(wrong, 0, 2)], "unique id", since)
        self.expect_success([self.join(text, rank, 2, 1) for rank in range(2)])

    def test_a_wrong_secret_is_refused_and_harms_no_rank(self):
        holder, text = self.make_id()
        first = self.join(text, 0, 2, 1)
        since = time.monotonic()
        self.expect_errors([self.join(self.changed_id("spoil", text), 1, 2)], "secret", since)
        self.expect_success([first, self.join(text, 1, 2, 1)])


class Running(FaultCase):
    # The links between processes of one host. Their collectives then use the arena.
    LINKED_BY = {"auto": "memory"}

    def check_killed_rank(self, links, count, victim, **settings):
        holder, text = self.make_id()
        ranks = [self.join(text, rank, 4, FOREVER, count, RINGLET_LINKS=links, **settings)
                 for rank in range(4)]
        for rank in ranks:
            self.assertIn(self.LINKED_BY.get(links, links), rank.wait_for("^JOINED"))
            rank.wait_for("^OP 3")
        if links not in ("tcp", "ofi"):
            self.assertTrue(support.maps_memory(ranks[0].pid))
        since = time.monotonic()
        ranks[victim].signal(signal.SIGKILL)
        others = [rank for i, rank in enumerate(ranks) if i != victim]
        self.expect_errors(others, rf"peer lost: .*rank {victim}\b", since)

    def test_a_rank_killed_in_shared_memory_is_named(self):
        for count in (1, 1000000):
            for victim in (0, 2):
                with self.subTest(count=count, victim=victim):
                    self.check_killed_rank("shm", count, victim)

    def test_a_rank_killed_in_the_memory_of_the_host_is_named(self):
        for count in (1, 1000, 10_000_000):
            for victim in (0, 2):
                with self.subTest(count=count, victim=victim):
                    self.check_killed_rank("auto", count, victim)

    def test_a_rank_killed_over_tcp_is_named(self):
        for count in (1, 1000000):
            for victim in (0, 3):
                with self.subTest(count=count, victim=victim):
                    self.check_killed_rank("tcp", count, victim)

    def test_a_rank_killed_or_stopped_over_libfabric_is_named(self):
        if why := self.why_no_libfabric():
            self.skipTest(why)
        for count in (1, 1000000):
            for victim in (0, 3):
                with self.subTest(count=count, victim=victim):
                    self.check_killed_rank("ofi", count, victim)
        self.check_killed_or_stopped(3000, "all_reduce", RINGLET_LINKS="ofi")

    def test_a_rank_killed_in_a_ring_of_control_connections_is_named(self):
        for links in ("auto", "shm", "tcp"):
            with self.subTest(links=links):
                self.check_killed_rank(links, 1000, 2, RINGLET_BOOTSTRAP="ring")

    def test_a_stopped_rank_times_out(self):
        for links in ("auto", "shm", "tcp"):
            with self.subTest(links=links):
                _, text = self.make_id()
                ranks = [self.join(text, rank, 3, FOREVER, 1000, RINGLET_LINKS=links,
                                   RINGLET_TIMEOUT="1") for rank in range(3)]
                for rank in ranks:
                    rank.wait_for("^OP 3")
                since = time.monotonic()
                ranks[1].signal(signal.SIGSTOP)
                self.expect_errors([ranks[0], ranks[2]], r"timeout: .*timed out after", since)

    CALLS = ("all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all",
             "gather", "scatter", "barrier")

    def check_killed_or_stopped(self, elements, kind, *words, **settings):
        for what, pattern in ((signal.SIGKILL, r"rank 1\b"),
                              (signal.SIGSTOP, r"timeout: .*rank 1\b")):
            with self.subTest(kind=kind, what=what.name):
                _, text = self.make_id()
                ranks = [self.join(text, rank, 3, FOREVER, elements, kind, *words,
                                   RINGLET_TIMEOUT="1", **settings)
                         for rank in range(3)]
                for rank in ranks:
                    rank.wait_for("^OP 3")
                since = time.monotonic()
                ranks[1].signal(what)
                self.expect_errors([ranks[0], ranks[2]], pattern, since)

    def test_every_collective_ends_when_a_rank_is_killed_or_stopped(self):
        for kind in self.CALLS:
            self.check_killed_or_stopped(3000, kind)

    def test_operations_on_registered_memory_end_too(self):
        for kind in ("all_reduce", "all_gather", "broadcast"):
            self.check_killed_or_stopped(1_000_000, kind, "registered")
        for elements in (3000, 5_000_000):
            self.check_killed_or_stopped(elements, "send_receive", "registered")

    def test_a_fetch_from_a_rank_ends_when_it_is_killed_or_stopped(self):
        for kind in ("send_receive", "all_to_all"):
            self.check_killed_or_stopped(200_000, kind, RINGLET_WAIT="spin")

    def test_a_rank_killed_at_any_moment_is_named(self):
        """Dies anywhere within an operation. RINGLET_FAULT_ROUNDS=20 makes a long test of it."""
        rounds, seed = int(os.environ.get("RINGLET_FAULT_ROUNDS", "1")), random.randrange(1 << 30)
        print(f"seed {seed}")
        moments = random.Random(seed)
        for _ in range(rounds):
            for kind in (*self.CALLS, "send_receive"):
                for links in ("auto", "shm", "tcp"):
                    self.kill_at_a_moment(kind, links, moments)
            self.kill_at_a_moment("send_receive", "auto", moments, "registered")

    def kill_at_a_moment(self, kind, links, moments, *words):
        count, victim = moments.choice((1, 3000, 1_000_000)), moments.randrange(3)
        turns = moments.randrange(30_000)
        with self.subTest(kind=kind, links=links, count=count, victim=victim, turns=turns):
            _, text = self.make_id()
            ranks = [self.join(text, rank, 3, FOREVER, count, kind, *words, RINGLET_LINKS=links)
                     for rank in range(3)]
            for rank in ranks:
                rank.wait_for("^OP 3")
            for _ in range(turns):  # some 0.05 us each
                pass
            since = time.monotonic()
            ranks[victim].signal(signal.SIGKILL)
            self.expect_errors(ranks[:victim] + ranks[victim + 1:], rf"rank {victim}\b", since)

    def check_hierarchy(self, algorithm, kind, count, victim):
        """Six ranks on three hosts. Ranks 2 and 3 are one host; 2 is its node leader, if any."""
        for what, pattern in ((signal.SIGKILL, rf"rank {victim}\b"),
                              (signal.SIGSTOP, rf"timeout: .*rank {victim}\b")):
            with self.subTest(algorithm=algorithm, kind=kind, count=count, victim=victim,
                              what=what.name):
                _, text = self.make_id()
                ranks = [self.join(text, rank, 6, FOREVER, count, kind, RINGLET_TIMEOUT="1",
                                   RINGLET_HOSTID=f"host-{rank // 2}", RINGLET_HOST_ALGO=algorithm,
                                   **self.EACH) for rank in range(6)]
                for rank in ranks:
                    self.assertIn("tcp", rank.wait_for("^JOINED"))
                    rank.wait_for("^OP 3")
                since = time.monotonic()
                ranks[victim].signal(what)
                others = [rank for i, rank in enumerate(ranks) if i != victim]
                self.expect_errors(others, pattern, since)

    def test_a_hierarchy_of_hosts_ends_when_a_rank_is_killed_or_stopped(self):
        for algorithm, count in (("hierarchical_direct", 3), ("hierarchical_doubling", 3),
                                 ("hierarchical_doubling", 3000), ("hierarchical", 1_000_000)):
            for victim in (2, 3):
                self.check_hierarchy(algorithm, "all_reduce", count, victim)
        for kind in ("broadcast", "all_gather", "reduce_scatter"):
            self.check_hierarchy("hierarchical", kind, 3000, 3)

    def test_a_rank_that_leaves_early_is_named(self):
        _, text = self.make_id()
        # Rank 0 is then the top. If the top itself leaves, the others have no path to each other.
        ranks = [self.join(text, rank, 3, 5 if rank == 1 else FOREVER, **self.EACH)
                 for rank in range(3)]
        ranks[1].wait_for("^DONE")
        self.expect_errors([ranks[0], ranks[2]], r"rank 1\b", time.monotonic())


class Storm(FaultCase):
    """Sends signals at every rank, thousands a second, with a handler that restarts no call."""

    EVERY_US = 200

    def test_calls_with_constant_interrupts_end(self):
        kinds = [("auto", "tree"), ("shm", "ring"), ("tcp", "tree"), ("ofi", "tree")]
        if why := self.why_no_libfabric():
            print(f"not over libfabric: {why}", flush=True)
            kinds.pop()
        for links, shape in kinds:
            for count, operations in ((1000, 2000), (300_000, 200)):
                with self.subTest(links=links, shape=shape, count=count):
                    _, text = self.make_id()
                    ranks = [self.start(FAULT_RANK, "storm", self.EVERY_US, "join", text, rank, 3,
                                        operations, count, RINGLET_LINKS=links,
                                        RINGLET_BOOTSTRAP=shape)
                             for rank in range(3)]
                    self.expect_success(ranks)
                    seen = [int(rank.wait_for("^SIGNALS").split()[1]) for rank in ranks]
                    print(f"{links}, {count} floats: {seen} signals", flush=True)
                    self.assertGreater(min(seen), 20)


class Strangers(FaultCase):
    """Connects callers that do not know the secret. The handshake timeout exceeds every bound here,
    so a job that forms has not waited for them."""

    SLOW = {"RINGLET_HANDSHAKE_TIMEOUT": "600", "RINGLET_INIT_TIMEOUT": "300"}
    GARBAGE = (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
               b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
               b"\x00" * 4096, b"\xff" * 4096, random.Random(1).randbytes(100_000))

    def call(self, address, data=b""):
        caller = support.socket.create_connection(address, timeout=support.TIMEOUT_S)
        self.addCleanup(caller.close)
        try:
            caller.sendall(data)
        except OSError:  # it may close at the first byte
            pass
        return caller

    def expect_hangup(self, caller):
        """Reads to the end; returns the data."""
        got = b""
        try:
            while data := caller.recv(65536):
                got += data
        except ConnectionError:
            pass
        return got

    def check_formed_soon(self, ranks, since):
        self.expect_success(ranks)
        elapsed = time.monotonic() - since
        print(f"{self.id().split('.')[-1]}: formed and done after {elapsed:.3f} s", flush=True)
        self.assertLess(elapsed, BOUND_S)

    def test_silent_callers_at_the_root_delay_no_rank(self):
        holder, text = self.make_id(**self.SLOW)
        address = self.root_address(holder)
        for _ in range(50):
            self.call(address)
        since = time.monotonic()
        self.check_formed_soon([self.join(text, rank, 3, 1, **self.SLOW) for rank in range(3)],
                               since)

    def test_garbage_at_the_root_is_turned_away(self):
        holder, text = self.make_id(**self.SLOW)
        address = self.root_address(holder)
        for garbage in self.GARBAGE:
            caller = self.call(address, garbage)
            if len(garbage) >= 48:  # a whole hello, so it can be refused
                self.expect_hangup(caller)
        holder.wait_for("turned away a caller")
        since = time.monotonic()
        self.check_formed_soon([self.join(text, rank, 3, 1, **self.SLOW) for rank in range(3)],
                               since)

    def test_a_replayed_check_in_is_rejected(self):
        holder, text = self.make_id(**self.SLOW)
        proxy, rerouted = self.proxied(holder, text)
        since = time.monotonic()
        first = self.join(rerouted, 1, 3, 1, **self.SLOW)
        proxy.wait_for_welcome()
        recorded = proxy.sent
        self.assertGreater(len(recorded), 48 + 32)
        answer = self.expect_hangup(self.call(self.root_address(holder), recorded))
        self.assertLessEqual(len(answer), 72, "more than a challenge was answered to a recording")
        holder.wait_for("turned away a caller")
        others = [self.join(text, rank, 3, 1, **self.SLOW) for rank in (0, 2)]
        self.check_formed_soon([first, *others], since)

    def test_callers_at_a_members_ports_harm_no_rank(self):
        holder, text = self.make_id(**self.SLOW)
        ranks, callers = [], []
        for rank in range(2):
            proxy, rerouted = self.proxied(holder, text)
            ranks.append(self.join(rerouted, rank, 3, 3, RINGLET_LINKS="tcp", **self.SLOW, **self.EACH))
            proxy.wait_for_welcome()
            ports = support.listening_ports(ranks[-1].pid)
            self.assertTrue(ports)
            for host, port in ports:
                for garbage in (b"", *self.GARBAGE):
                    callers.append(self.call(("127.0.0.1" if host == "0.0.0.0" else host, port),
                                             garbage))
        since = time.monotonic()
        ranks.append(self.join(text, 2, 3, 3, RINGLET_LINKS="tcp", **self.SLOW, **self.EACH))
        self.check_formed_soon(ranks, since)


if __name__ == "__main__":
    support.main()
