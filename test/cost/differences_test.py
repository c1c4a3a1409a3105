#!/usr/bin/env python3
"""Tests which costs cost_test.py refuses."""
import copy
import unittest

import cost_test

RECORDED = {"compiler": "GNU 12", "instructions": {"Send8": 1000}, "process": {"threads": 2},
            "library": {"KiB of code": 100}, "lines, at most": {"core": 500}}


class Differences(unittest.TestCase):
    def found(self, kind, value, compiler="GNU 12"):
        measured = copy.deepcopy(RECORDED)
        measured["compiler"] = compiler
        (name,) = measured[kind]
        measured[kind][name] = value
        return list(cost_test.differences(RECORDED, measured))

    def test_small_changes_pass(self):
        for value in (950, 1000, 1050):
            self.assertEqual(self.found("instructions", value), [])

    def test_a_rise_and_a_fall_fail(self):
        self.assertEqual(self.found("instructions", 1051), ["instructions: Send8 rose from 1000 to 1051"])
        self.assertEqual(self.found("instructions", 949), ["instructions: Send8 fell from 1000 to 949"])
        self.assertEqual(len(self.found("library", 106)), 1)

    def test_another_compiler_has_more_room(self):
        self.assertEqual(self.found("instructions", 700, "GNU 14"), [])
        self.assertEqual(self.found("instructions", 1400, "GNU 14"), [])
        self.assertEqual(len(self.found("instructions", 1401, "GNU 14")), 1)

    def test_descriptors_and_threads_are_exact(self):
        for value in (1, 3):
            self.assertEqual(len(self.found("process", value, "GNU 14")), 1)

    def test_lines_have_a_ceiling_alone(self):
        self.assertEqual(self.found("lines, at most", 10), [])
        self.assertEqual(self.found("lines, at most", 500), [])
        self.assertEqual(len(self.found("lines, at most", 501)), 1)
        self.assertEqual([cost_test.ceiling_of_lines(lines) for lines in (1, 250, 251)], [250, 250, 500])

    def test_calls_appear_and_disappear(self):
        measured = copy.deepcopy(RECORDED)
        measured["instructions"] = {"Receive8": 1}
        self.assertEqual(list(cost_test.differences(RECORDED, measured)),
                         ["instructions: Receive8 is not recorded", "instructions: Send8 is no longer measured"])


if __name__ == "__main__":
    unittest.main()
