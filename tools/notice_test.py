#!/usr/bin/env python3
"""Tests tools/notice.py on small copyright files."""
import pathlib
import tempfile
import unittest

import notice

COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2001, 2003-2005 Ann Author <ann@example.org>
           no copyright claimed
License: Expat

Files: src/part.c
Copyright: 2009 Ben Builder
License: ISC

Files: debian/*
Copyright: 2010 Deb Packager
License: GPL-2+

License: Expat
 Permission is granted.
 .
 On Debian systems, see elsewhere.

License: ISC
 Permission to use.
"""
PACKAGES = (notice.ROOT / "tools" / "packages.sh").read_text("utf-8")
NOTICE = (notice.ROOT / "NOTICE").read_text("utf-8")


class Notice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.doc = pathlib.Path(folder.name)
        (self.doc / "libfmt-dev").mkdir()

    def findings(self, text, notice_text):
        (self.doc / "libfmt-dev" / "copyright").write_text(text)
        return list(notice.findings(notice_text, PACKAGES, self.doc))

    def test_the_sources_of_programs_are_read(self):
        files, texts = notice.contained(COPYRIGHT)
        self.assertEqual(files, [(["2001, 2003-2005 Ann Author <ann@example.org>"], "Expat"),
                                 (["2009 Ben Builder"], "ISC")])
        self.assertEqual(texts["Expat"], " Permission is granted.")
        self.assertEqual([notice.holder(holders[0]) for holders, _ in files], ["Ann Author", "Ben Builder"])

    def test_a_new_holder_is_found(self):
        self.assertEqual(self.findings(COPYRIGHT, NOTICE + "Copyright 2020 Ann Author, Ben Builder"), [])
        found = self.findings(COPYRIGHT, NOTICE + "Copyright 2020 Ann Author")
        self.assertEqual([each.split(",")[0] for each in found], ["NOTICE lacks Ben Builder"])

    def test_another_license_is_found(self):
        text = COPYRIGHT.replace("License: Expat\n\n", "License: GPL-3\n\n", 1)
        found = self.findings(text, NOTICE + "Ann Author Ben Builder")
        self.assertRegex("".join(found), "fmt is under GPL-3 in .*, and the table has MIT")

    def test_a_new_package_of_the_build_is_found(self):
        packages = PACKAGES.replace("libhwy-dev ", "libnew-dev x\nlibhwy-dev ")
        found = list(notice.findings(NOTICE, packages, self.doc / "none"))
        self.assertEqual(found, ["tools/notice.py and tools/packages.sh differ in libnew-dev"])

    def test_a_missing_section_is_found(self):
        found = list(notice.findings(NOTICE.replace("pugixml, http", "pugi, http"), PACKAGES, self.doc / "none"))
        self.assertEqual(found, ["NOTICE has no section of pugixml: run tools/notice.py --write"])


if __name__ == "__main__":
    unittest.main()
