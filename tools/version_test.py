#!/usr/bin/env python3
"""Tests tools/version.py: a changed version or fact is found in each place."""
import pathlib
import re
import shutil
import tempfile
import unittest

import version

FILES = {"CMakeLists.txt", "docs/reference/support.md", *version.PLACES, *(source for _, source, _ in version.FACTS)}


class Version(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(version.ROOT / name, self.root / name)

    def findings_with(self, name, form, text):
        """Returns the findings if the first group of `form` in the file is `text`."""
        path = self.root / name
        kept = path.read_text("utf-8")
        begin, end = re.search(form, kept, re.M).span(1)
        path.write_text(kept[:begin] + text + kept[end:], "utf-8")
        found = list(version.findings(self.root))
        path.write_text(kept, "utf-8")
        return found

    def test_the_tree_has_no_findings(self):
        self.assertEqual(list(version.findings(self.root)), [])

    def test_another_version_in_one_place_is_found(self):
        for name, form in version.PLACES.items():
            found = self.findings_with(name, form, "9.8.7")
            self.assertEqual([each for each in found if "the version is 9.8.7" in each and name in each], found, name)
            self.assertEqual(len(found), 1, name)

    def test_another_fact_is_found(self):
        for form, source, form_there in version.FACTS:
            for name, changed in (("docs/reference/support.md", form), (source, form_there)):
                self.assertEqual(len(self.findings_with(name, changed, "98")), 1, (name, changed))

    def test_a_missing_form_is_found(self):
        (self.root / "python/ringlet/__init__.py").write_text("")
        self.assertIn("there is no version", "".join(version.findings(self.root)))


if __name__ == "__main__":
    unittest.main()
