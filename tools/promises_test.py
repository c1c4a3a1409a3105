#!/usr/bin/env python3
"""Plants each mistake in small documents and expects promises.py to find exactly that."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import promises  # noqa: E402

HEAD = "# Testing\n\n| promise | file | tests |\n|---|---|---|\n"
ROW = "| never lost | README.md | `Line.LosesNothing` |\n"
CLEAN = {
    "README.md": "# Toy\n\nA line is\nnever lost. It is short.\n\n    never in code\n\n"
                 "| nothing in a table | none |\n\nPrices are what all pay.\n",
    "docs/contributing/testing.md": HEAD + ROW,
    "tools/promises_other.txt": "README.md: what all pay # a fact\n",
    "src/line_test.cpp": "TEST(Line, LosesNothing) {}\n",
}


class PromisesTest(unittest.TestCase):
    def findings(self, **planted):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **planted.get("files", {})}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return promises.check(pathlib.Path(folder))

    def expect_only(self, finding, files):
        found = self.findings(files=files)
        self.assertEqual(len(found), 1, found)
        self.assertIn(finding, found[0])

    def test_clean_documents_give_no_findings(self):
        self.assertEqual(self.findings(), [])

    def test_a_promise_without_a_test_is_found(self):
        self.expect_only("no test is named for: It always ends.",
                         {"docs/other.md": "# Other\n\nIt always ends. All-reduce is one word.\n"})

    def test_a_missing_test_is_found(self):
        self.expect_only("no such test: Line.LosesNothing", {"src/line_test.cpp": ""})

    def test_a_row_without_a_test_is_found(self):
        self.expect_only("no test for: never lost",
                         {"docs/contributing/testing.md":
                          HEAD + ROW.replace("`Line.LosesNothing`", "later")})

    def test_a_row_without_its_sentence_is_found(self):
        self.expect_only("no sentence of promise has: never lost",
                         {"README.md": CLEAN["README.md"].replace("never lost", "kept")})

    def test_an_exception_without_a_reason_is_found(self):
        self.expect_only("no reason for: what all pay",
                         {"tools/promises_other.txt": "README.md: what all pay # .\n"})


if __name__ == "__main__":
    unittest.main()
