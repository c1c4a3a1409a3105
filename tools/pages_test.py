#!/usr/bin/env python3
"""Plants each mistake in small pages and expects pages.py to find exactly that."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pages  # noqa: E402

CLEAN = {
    "README.md": "# Toy\n\n[there](docs/x.md#a-head) ![p](docs/p.svg) `[no](link)` RINGLET_KNOWN\n",
    "docs/x.md": "# X\n\n## A `head`\n\n<!-- file: examples/a.c -->\n```c\nint a;\n```\n\n"
                 "    [no](link)\n",
    "docs/p.svg": "<svg/>",
    "docs/reference/c-api.md": "| `ncclOne` | 2.4 | works | |\n",
    "docs/reference/errors.md": "| `kOne` | one |\n\n| 0 | done |\n| N | the rank's |\n",
    "docs/reference/settings.md": "| `RINGLET_KNOWN` | |\n",
    "examples/a.c": "int a;\n",
    "include/ringlet/compat/nccl.h": "RINGLET_C_API ncclResult_t ncclOne(int* a);\n"
                                     "RINGLET_C_API ncclResult_t pncclOne(int* a);\n",
    "include/ringlet/status.hpp": "enum class Code {\n  kOne,  ///< why\n};\n",
    "docs/reference/cli.md": "| 0 | done |\n| N | the rank's |\n",
    "src/a.cpp": "// docs/x.md has it.\n",
}


class Pages(unittest.TestCase):
    def findings(self, changed):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **changed}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return list(pages.findings(pathlib.Path(folder)))

    def test_clean_pages_give_no_findings(self):
        self.assertEqual(self.findings({}), [])

    def test_each_mistake_is_found(self):
        header = CLEAN["include/ringlet/compat/nccl.h"]
        for reason, name, text in (
                ("leads nowhere", "README.md", "[gone](docs/y.md)\n"),
                ("leads nowhere", "README.md", "![gone](docs/q.svg)\n"),
                ("no such heading", "README.md", "[x](docs/x.md#b)\n"),
                ("no source knows it", "README.md", "RINGLET_UNKNOWN\n"),
                ("no source knows it", "README.md", "`NCCL_UNKNOWN`\n"),
                ("not that of examples/a.c", "examples/a.c", "int b;\n"),
                ("src/a.cpp has no Gone", "docs/y.md", "| 1 | `src/a.cpp` | `Gone` | why |\n"),
                ("src/b.cpp has no F", "docs/y.md", "| 1 | `src/b.cpp` | `F` | why |\n"),
                ("there is no docs/y.md", "src/a.cpp", "// docs/y.md\n"),
                ("ncclTwo of nccl.h is missing", "include/ringlet/compat/nccl.h",
                 header + "RINGLET_C_API const char* ncclTwo(void);\n"),
                ("nccl.h has no ncclTwo", "docs/reference/c-api.md",
                 "| `ncclOne` | 2.4 | works | |\n| `ncclTwo` | 2.4 | works | |\n"),
                ("a version and a status", "docs/reference/c-api.md", "| `ncclOne` | | maybe | |\n"),
                ("kTwo is not in both", "include/ringlet/status.hpp", "  kOne,\n  kTwo,\n"),
                ("exit statuses", "docs/reference/errors.md", "| `kOne` | one |\n\n| 0 | other |\n")):
            with self.subTest(reason):
                found = self.findings({name: text})
                self.assertEqual(len(found), 1, found)
                self.assertIn(reason, found[0])


if __name__ == "__main__":
    unittest.main()
