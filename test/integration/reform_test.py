#!/usr/bin/env python3
"""Kills ranks in a loop of sums: the others agree on the remaining ranks, and go on with right sums.

    reform_test.py BUILD_DIR

No rank is told which ranks are dead. The test prints the times from the failure to the first right
sum. RINGLET_REFORM_ROUNDS sets the number of rounds.
"""
import json
import os
import random
import time

import support
from support import FAULT_RANK, TOOL

ROUNDS = int(os.environ.get("RINGLET_REFORM_ROUNDS", "3"))


class Reform(support.Case):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("RINGLET_TEST_SEED", time.time_ns() % 10**9))
        print(f"RINGLET_TEST_SEED={self.seed}", flush=True)
        self.random = random.Random(self.seed)

    def start_ranks(self, size, hosts):
        """Ranks with the same RINGLET_HOSTID share memory. The others are linked by TCP."""
        holder = self.start(FAULT_RANK, "id")
        text = holder.wait_for("^ID ").split()[1]
        ranks = [self.start(FAULT_RANK, "reform", text, rank, size, 1024, RINGLET_HEARTBEAT_TIMEOUT="0",
                            RINGLET_HOSTID=f"host{rank * hosts // size}") for rank in range(size)]
        for rank in ranks:
            rank.wait_for("^(JOINED|ERROR)")
        holder.kill()
        return ranks

    def expect_reformed(self, living):
        """Waits until all living ranks have a communicator of just these ranks. Returns the longest time."""
        times = []
        for rank in living:
            line = rank.wait_for(rf"^(REFORMED {len(living)} |ERROR)")
            self.assertRegex(line, "^REFORMED", f"rank of pid {rank.pid}")
            times.append(int(line.split()[2]))
        return max(times)

    def kill_in_rounds(self, size, victims_of, hosts=1):
        """victims_of: returns the ranks to kill, at the same moment or during the agreement."""
        times = []
        for _ in range(ROUNDS):
            ranks = self.start_ranks(size, hosts)
            victims = victims_of()
            for victim in victims:
                ranks[victim].kill()
                for _ in range(self.random.choice((0, self.random.randrange(200)))):
                    os.stat("/proc/self")  # takes some microseconds
            living = [rank for number, rank in enumerate(ranks) if number not in victims]
            times.append(self.expect_reformed(living))
            for rank in living:
                rank.kill()
        times.sort()
        print(f"{self.id().split('.')[-1]}: {size} ranks without {len(victims)}: first right sum after "
              f"{times[0]} to {times[-1]} us, median {times[len(times) // 2]}", flush=True)

    def test_one_rank_is_killed(self):
        self.kill_in_rounds(8, lambda: [self.random.randrange(8)])

    def test_status_shows_the_recovery(self):
        ranks = self.start_ranks(4, hosts=1)
        ranks[2].kill()
        living = [ranks[rank] for rank in (0, 1, 3)]
        self.expect_reformed(living)
        printed = json.loads("".join(self.run_to_end(TOOL, "status", living[0].pid, "--json").lines))
        states = [state for one in printed for state in one["states"]
                  if one["ranks"] == 3 and state["pid"] == living[0].pid]
        self.assertEqual(len(states), 1, printed)
        times = states[0]["recovery"]
        self.assertLessEqual(times["called_ns"], times["agreed_ns"])
        self.assertLessEqual(times["agreed_ns"], times["rebuilt_ns"])
        self.assertLessEqual(times["rebuilt_ns"], times["first_result_ns"])
        for rank in living:
            rank.kill()

    def test_rank_0_is_killed(self):
        self.kill_in_rounds(8, lambda: [0])

    def test_three_ranks_are_killed(self):
        self.kill_in_rounds(8, lambda: self.random.sample(range(8), 3))

    def test_all_ranks_but_one_are_killed(self):
        self.kill_in_rounds(4, lambda: self.random.sample(range(4), 3))

    def test_a_whole_host_is_killed(self):
        def ranks_of_a_host():
            first = self.random.choice((0, 4))
            return range(first, first + 4)
        self.kill_in_rounds(8, ranks_of_a_host, hosts=2)


if __name__ == "__main__":
    support.main()
