#!/usr/bin/env python3
"""Tests of bench/report.py."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import report  # noqa: E402


def row(size, own, **peers):
    return {"size": size, "time_us": own, "peers": {name: {"time_us": time} for name, time in peers.items()}}


RESULT = {
    "what": "Sums", "where": "2 cores", "when": "2026-11-27", "beside": ["MPI 5"],
    "runs": [{"op": "all_reduce", "ranks": 2, "peers": ["MPI"],
              "rows": [row(8, 0.171, MPI=0.26), row(1048576, 1221.4, MPI=1100.0)]},
             {"op": "broadcast", "ranks": 2, "peers": ["MPI"], "rows": [row(8, 2.0)]}],
    "tables": [{"title": "Others", "columns": ["a", "b"], "rows": [[1, None]]}],
}


class ReportTest(unittest.TestCase):
    def load(self, result):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.json")
            path.write_text(result if isinstance(result, str) else json.dumps(result), encoding="utf-8")
            return report.load(path)

    def test_a_part_has_every_figure(self):
        text = report.part(self.load(RESULT))
        self.assertIn("Machine: 2 cores. Date: 2026-11-27. Peers: MPI 5.", text)
        self.assertIn("**2 ranks**, us: **Ringlet** MPI", text)
        self.assertIn("| operation | 8 B | 1 MiB |", text)
        self.assertIn("| all_reduce | **0.171** 0.26 | **1,221** 1,100 |", text)
        self.assertIn("| broadcast | **2** - |  |", text)
        self.assertIn("* 2 ranks, MPI: all_reduce 1 MiB 0.90.", text)
        self.assertIn("| 1 |  |", text)

    def test_a_summary_marks_the_cells_in_which_a_peer_is_faster(self):
        result = self.load(RESULT)
        self.assertIn("| 2 ranks | all_reduce | 0.171 (1.52) | **1,221 (0.90)** |",
                      report.summary_of_runs(result, ["2 ranks"], [1048576]))
        self.assertEqual(report.count_slower(result, ["2 ranks"]), "1 of 2")

    def test_in_place_figures_replace_missing_ones(self):
        run = {"op": "broadcast", "ranks": 2, "peers": ["MPI"],
               "rows": [{"size": 8, "in_place": {"time_us": 1.0, "peers": {"MPI": {"time_us": 0.5}}}}]}
        self.assertEqual(list(report.slower_cells([run])), [("MPI", "broadcast", 8, 0.5)])

    def test_bad_files_are_refused(self):
        for bad, why in (("{", "Expecting"), ("[]", "not an object"), ({"what": "x"}, "the key where"),
                         ({**RESULT, "odd": 1}, "unknown key odd"), ({**RESULT, "runs": [], "tables": []}, "neither"),
                         ({**RESULT, "runs": [{"op": "x"}]}, "lacks the key 'ranks'"),
                         ({**RESULT, "tables": [{"columns": 1}]}, "lacks the key 'rows'"),
                         ({**RESULT, "runs": [{"op": "x", "ranks": 2, "rows": 7}]}, "wrong type"),
                         ({**RESULT, "tables": [{"columns": ["a"], "rows": [[1, 2]]}]}, "a row of 2 cells")):
            with self.assertRaisesRegex(report.BadResult, why):
                self.load(bad)


if __name__ == "__main__":
    unittest.main()
