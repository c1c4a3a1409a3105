#!/usr/bin/env python3
"""Tests `ringlet run`: the number of each rank, the prefix of each line, and the end of a job.

    run_test.py BUILD_DIR
"""
import os
import re
import signal
import tempfile

import support
from support import TOOL


class Run(support.Case):
    def shell(self, script, *options, ranks=3):
        return self.start(TOOL, "run", "-n", ranks, *options, "--", "sh", "-c", script)

    def test_every_rank_receives_its_number(self):
        names = ("RINGLET_RANK RINGLET_WORLD_SIZE RINGLET_LOCAL_RANK RANK WORLD_SIZE LOCAL_RANK "
                 "LOCAL_WORLD_SIZE MASTER_ADDR").split()
        run = self.shell("echo " + " ".join("$" + name for name in names) +
                         "; echo port $MASTER_PORT; echo id $RINGLET_UNIQUE_ID")
        self.assertEqual(run.finish(), 0, run.text())
        for rank in range(3):
            self.assertIn(f"[{rank}] {rank} 3 {rank} {rank} 3 {rank} 3 127.0.0.1", run.lines)
        ports = {line.split()[-1] for line in run.lines if "port" in line}
        ids = {line.split()[-1] for line in run.lines if "] id " in line}
        self.assertEqual((len(ports), len(ids)), (1, 1))
        self.assertRegex(ids.pop(), "^ringlet1:[0-9a-f]{256}$")
        self.assertTrue(0 < int(ports.pop()) < 65536)

    def test_ranks_find_each_other(self):
        run = self.start(TOOL, "run", "-n", 3, "sh", "-c",
                         f"{support.FAULT_RANK} join $RINGLET_UNIQUE_ID $RANK $WORLD_SIZE 2")
        self.assertEqual(run.finish(), 0, run.text())
        for rank in range(3):
            self.assertIn(f"[{rank}] DONE", run.lines)

    def test_lines_stay_whole_and_in_order(self):
        run = self.shell("i=0; while [ $i -lt 2000 ]; do echo line $i of $RANK; "
                         "echo error $i >&2; i=$((i+1)); done; printf end")
        self.assertEqual(run.finish(), 0)
        for rank in range(3):
            mine = [line for line in run.lines if line.startswith(f"[{rank}] ")]
            self.assertEqual(mine, [f"[{rank}] line {i} of {rank}" for i in range(2000)] +
                             [f"[{rank}] end"])
            self.assertEqual([line for line in run.error_lines if line.startswith(f"[{rank}] ")],
                             [f"[{rank}] error {i}" for i in range(2000)])

    def test_an_endless_line_is_cut(self):
        run = self.shell("head -c 100000 /dev/zero | tr '\\0' x", ranks=1)
        self.assertEqual(run.finish(), 0)
        self.assertEqual(sum(len(line) - len("[0] ") for line in run.lines), 100000)
        self.assertLess(max(map(len, run.lines)), 20000)

    def test_the_first_failure_is_named_and_the_others_are_ended(self):
        run = self.shell("trap 'echo told to end; exit 0' TERM; "
                         "if [ $RANK = 1 ]; then exit 7; fi; sleep 3600 & wait")
        self.assertEqual(run.finish(), 7, run.text())
        self.assertIsNotNone(run.find("rank 1 exited with status 7", run.error_lines), run.text())

    def test_a_killed_rank_gives_128_plus_the_signal(self):
        run = self.shell("if [ $RANK = 2 ]; then kill -SEGV $$; fi; sleep 3600 & wait")
        self.assertEqual(run.finish(), 128 + signal.SIGSEGV, run.text())
        self.assertIsNotNone(run.find(r"rank 2 was killed by signal 11 \(SIGSEGV\)",
                                      run.error_lines), run.text())

    def test_a_rank_that_ignores_sigterm_is_killed_after_the_grace(self):
        run = self.shell("trap '' TERM; echo deaf; if [ $RANK = 0 ]; then exit 4; fi; "
                         "while :; do sleep 3600; done", "--grace", "0.1")
        self.assertEqual(run.finish(), 4, run.text())
        self.assertEqual(self.marked(), {})

    def check_signal_reaches_all(self, number, name):
        run = self.shell(f"trap 'echo got it; exit 0' {name}; echo ready; sleep 3600 & wait")
        for rank in range(3):
            run.wait_for(rf"^\[{rank}\] ready")
        run.signal(number)
        self.assertEqual(run.wait(), 128 + number, run.text())
        for rank in range(3):
            self.assertIn(f"[{rank}] got it", run.lines)
        self.assertIsNotNone(run.find(f"ended by SIG{name}", run.error_lines))

    def test_an_interrupt_reaches_all_ranks(self):
        self.check_signal_reaches_all(signal.SIGINT, "INT")

    def test_a_termination_reaches_all_ranks(self):
        self.check_signal_reaches_all(signal.SIGTERM, "TERM")

    def test_ranks_die_with_the_launcher(self):
        run = self.shell("echo ready $$; exec sleep 3600")
        pids = [int(re.search(r"ready (\d+)", run.wait_for(rf"^\[{rank}\] ready"))[1])
                for rank in range(3)]
        run.signal(signal.SIGKILL)
        for pid in pids:
            self.assertTrue(support.await_end(pid), f"rank's process {pid} outlives the launcher")

    def test_a_missing_program_is_named(self):
        run = self.run_to_end(TOOL, "run", "-n", 2, "/nowhere/ringlet-no-such")
        self.assertEqual(run.status, 127)
        self.assertIsNotNone(run.find("/nowhere/ringlet-no-such", run.error_lines), run.text())


    def test_survivors_may_continue(self):
        script = "if [ $RANK = 1 ]; then kill -KILL $$; fi; cat $GATE.$RANK; echo $RANK goes on; exit $CODE"
        for code in (0, 5):
            with self.subTest(code=code), tempfile.TemporaryDirectory() as folder:
                gate = os.path.join(folder, "gate")
                for rank in (0, 2):
                    os.mkfifo(f"{gate}.{rank}")
                run = self.start(TOOL, "run", "-n", 3, "--keep-going", "sh", "-c", script,
                                 GATE=gate, CODE=str(code))
                run.wait_for(r"rank 1 was killed by signal 9 \(SIGKILL\); the others keep going",
                             "error_lines")
                for rank in (0, 2):
                    with open(f"{gate}.{rank}", "w"):
                        pass
                self.assertEqual(run.finish(), code, run.text())
                for rank in (0, 2):
                    self.assertIn(f"[{rank}] {rank} goes on", run.lines)


class CommandLine(support.Case):
    def test_unknown_words_are_reported_on_standard_error(self):
        for words in (["dance"], ["--odd"], ["env", "--odd"], ["run", "-n", "2", "--odd", "true"],
                      ["bench", "all_scan"], [], ["bench"]):
            with self.subTest(words=words):
                tool = self.run_to_end(TOOL, *words)
                self.assertEqual(tool.status, 2, tool.text())
                self.assertEqual(tool.lines, [])
                self.assertTrue(tool.error_lines)

    def test_an_invalid_environment_is_reported(self):
        tool = self.run_to_end(TOOL, "env", RINGLET_LINKS="pigeon")
        self.assertEqual(tool.status, 2)
        self.assertIsNotNone(tool.find("RINGLET_LINKS", tool.error_lines), tool.text())


if __name__ == "__main__":
    support.main()
