#!/usr/bin/env python3
"""Tests of tools/words.py and tools/messages.py, in trees of their own."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import messages
import words


def source(text):
    return [why for _, why in words.check_source(text)]


class Words(unittest.TestCase):
    def test_a_private_name_is_found_within_an_identifier(self):
        for name in ("Census", "TakeCensus", "kCensusMax", "MeetingLine", "Speakers"):
            self.assertTrue(source(f"void {name}();"), name)

    def test_a_private_word_is_found_within_a_variable(self):
        for name in ("patience", "patience_ms", "root_census_"):
            self.assertTrue(source(f"int {name};"), name)
        self.assertFalse(source("int timeout_ms;"))

    def test_a_word_that_only_contains_a_private_one_passes(self):
        for name in ("Software", "Welfare", "Trialling"):
            self.assertFalse(source(f"int {name};"), name)

    def test_comments_are_searched_for_private_prose_only(self):
        self.assertTrue(source("// the census of all\n"))
        self.assertFalse(source("// introduction to Meeting\n"))

    def test_long_lines_of_a_page_are_found(self):
        long = "word " * 25
        self.assertTrue(list(words.check_page(long)))
        for exempt in ("| " + long, "    " + long, f"```\n{long}\n```", long + "[a](b)"):
            self.assertFalse(list(words.check_page(exempt)), exempt)

    def test_sources_and_scripts_are_searched(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/README.md",
                         "tools/type_names.txt"):
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text("")
            (root / "test").mkdir()
            (root / "src" / "a.cpp").write_text("int a;  // the census\n")
            (root / "src" / "a_test.cpp").write_text("TEST(A, WhoIsNew) {\n}\n")
            (root / "test" / "b.py").write_text("    def test_who_is_new(self):\n")
            self.assertEqual([found.split(":")[0] for found in words.findings(root)],
                             ["src/a.cpp", "src/a_test.cpp", "test/b.py"])

    def test_names_of_tests_have_a_subject(self):
        for name in ("WhatIsNew", "WhoLeavesIsNamed", "ItHelpsNobody", "NamesWhoIsLate"):
            self.assertTrue(list(words.check_test_names(f"TEST_F(A, {name}) {{")), name)
        for name in ("ARankIsNamed", "WholeCallsAreMade", "SaysWhatIsWrong", "AWhoopIsHeard"):
            self.assertFalse(list(words.check_test_names(f"TEST(A, {name}) {{")), name)
        self.assertTrue(list(words.check_test_names("    def test_who_leaves(self):")))
        self.assertFalse(list(words.check_test_names("    def test_a_whole(self):")))

    def test_a_page_that_narrates_history_is_found(self):
        for text in ("The ring was slower before.", "Since then it is not.", "At first, two."):
            self.assertTrue(list(words.check_diary(text)), text)
        for text in ("```\nbefore\n```", "| before |", "    before", "`before`", "a [b](0059-before.md)"):
            self.assertFalse(list(words.check_diary(text)), text)

    def test_a_type_of_two_folders_needs_a_valid_list_entry(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for part in ("a", "b"):
                (root / "src" / part).mkdir(parents=True)
                (root / "src" / part / "x.hpp").write_text("struct Twice {\n};\nstruct Own_%s {};\n"
                                                           % part)
            (root / "tools").mkdir()
            listed = root / "tools" / "type_names.txt"
            listed.write_text("# why\n")
            self.assertEqual(len(list(words.check_types(root))), 1)
            listed.write_text("Twice: a b\n")
            self.assertEqual(list(words.check_types(root)), [])
            listed.write_text("Twice: a b\nOther: a b\n")
            self.assertEqual(len(list(words.check_types(root))), 1)


class Messages(unittest.TestCase):
    def test_adjacent_strings_are_one_text(self):
        self.assertEqual(list(messages.texts('f("rank {} "\n  "is lost", "b c");')),
                         ["rank {} is lost", "b c"])

    def test_includes_comments_and_characters_are_not_texts(self):
        self.assertEqual(list(messages.texts('#include "a b"\n// "c d"\nchar x = \'"\';')), [])

    def test_a_single_word_is_not_a_text(self):
        self.assertTrue(messages.is_text("rank {} is lost"))
        for word in ("rank", " ", "{} {}", ", "):
            self.assertFalse(messages.is_text(word), word)


if __name__ == "__main__":
    unittest.main()
