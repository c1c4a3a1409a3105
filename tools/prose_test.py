#!/usr/bin/env python3
"""Plants each form of sentence and expects prose.py to count exactly that."""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import prose  # noqa: E402

PLAIN = "The root sends the roster to each rank when all ranks have checked in."


class ProseTest(unittest.TestCase):
    def test_plain_sentences_lack_shapes(self):
        for text in (PLAIN, "From the second call on, the rank reuses the link.", "Null if the rank is the root."):
            self.assertEqual(prose.shapes_of(text), [], text)

    def test_each_shape_is_found(self):
        for shape, text in (("fragment", "Of a group whose ranks are on one host and share memory"),
                            ("speech", "The root tells each rank the address of its peer."),
                            ("motion", "The frame comes before the roster in each case."),
                            ("who", "A rank whose host is lost does not answer."),
                            ("of which", "The group is a list of ranks, of which one is the leader."),
                            ("is no", "There is no link between the two, or there are none.")):
            self.assertIn(shape, prose.shapes_of(text), text)

    def test_adjacent_comment_lines_are_joined(self):
        text = "// One sentence that\n// has two lines.\nint a;  // The sum of all ranks, in bytes.\n/// Next.\n"
        self.assertEqual(list(prose.comments(text)), [(1, "One sentence that has two lines."),
                                                      (3, "The sum of all ranks, in bytes."), (4, "Next.")])
        self.assertEqual(list(prose.comments('x = "# no"\n# Yes, one.\n', python=True)), [(2, "Yes, one.")])

    def test_rates_ignore_short_comments(self):
        bad = "Of ranks on hosts that share one memory"
        self.assertEqual(prose.rates(["Of ranks.", PLAIN, PLAIN, bad, bad])["fragment"], 500)
        self.assertEqual(prose.rates([PLAIN, bad])["fragment"], 0)

    def test_a_file_belongs_to_its_tree(self):
        for name, tree in (("src/core/comm/run/work.cpp", "src/core/comm"), ("src/tool/main.cpp", "src/tool"),
                           ("docs/howto/install.md", "docs/howto"), ("README.md", "README"), ("bench/a/b.c", "bench")):
            self.assertEqual(prose.tree_of(name), tree)

    def test_ceilings_only_fall(self):
        figures = {"src/tool": {"who": 3}}
        self.assertEqual(list(prose.check_ceilings(figures, {"src/tool": {"who": 3}})), [])
        self.assertIn("who: 3, and the ceiling is 2", list(prose.check_ceilings(figures, {"src/tool": {"who": 2}}))[0])
        self.assertIn("no ceiling", list(prose.check_ceilings(figures, {}))[0])

    def test_parameters_must_exist(self):
        self.assertEqual(list(prose.check_parameters("a.hpp", "/// \\param one, two  both\nint F(int one, int two);\n")), [])
        self.assertIn("a.hpp:2: \\param gone",
                      list(prose.check_parameters("a.hpp", "/// Sum.\n/// \\param gone  a\nint F(int one);\n"))[0])

    def test_cited_files_must_exist(self):
        known = {"src/core/comm/run/work.hpp", "docs/index.md"}
        self.assertEqual(list(prose.check_citations("a.cpp", "See comm/run/work.hpp and docs/index.md.", known)), [])
        self.assertIn("there is no file comm/run/gone.hpp",
                      list(prose.check_citations("a.cpp", "See comm/run/gone.hpp.", known))[0])

    def test_commit_subjects_are_checked(self):
        for good in ("comm: start operations into the caller's memory", "src, docs: name each package"):
            self.assertEqual(list(prose.check_subject(good)), [])
        for bad in ("Fixed it", "comm: fixed it", "comm: Fix it", "comm: fix it.", "comm: " + "long " * 20):
            self.assertTrue(list(prose.check_subject(bad)), bad)

    def test_prose_of_a_page_excludes_code(self):
        self.assertEqual(prose.prose_of("# A\nText `that` is.\n```\nwhich\n```\n| who |\n").split(), ["Text", "code0", "is."])


if __name__ == "__main__":
    unittest.main()
