#!/usr/bin/env python3
"""Tests `ringlet topo gather`: the tarball is valid, scrubbed, and shows the same machine.

    topo_gather_test.py BUILD_DIR
"""
import pathlib
import re
import subprocess
import tarfile
import tempfile

import support
from support import TOOL

CAPTURED = support.BUILD.resolve() / "test" / "discovery" / "captured"


class Gather(support.Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tool(self, *words):
        tool = self.run_to_end(TOOL, "topo", *words)
        self.assertEqual(tool.status, 0, tool.text())
        return tool.lines

    def gather(self, name, *root):
        archive = self.folder / f"{name}.tar"
        self.tool("gather", *root, "-o", archive)
        return archive

    def unpack(self, archive):
        """Unpacks with tar itself, because any user's tar must read it."""
        folder = self.folder / (archive.stem + ".root")
        folder.mkdir()
        subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
        return folder

    def test_this_machine_gives_the_same_view_elsewhere(self):
        folder = self.unpack(self.gather("here"))
        self.assertEqual(self.tool("dump", "--root", folder), self.without_host(self.tool("dump")))

    @staticmethod
    def without_host(lines):
        """Removes name and identity, because they are those of the machine, not in its files."""
        return [re.sub(r' (?:name="[^"]*"(?=>)|host_hash="[^"]*")', "", line)
                if line.lstrip().startswith(("<system", "<cpu")) else line for line in lines]

    def test_captured_machines_give_the_same_view_again(self):
        roots = sorted(path for path in CAPTURED.iterdir() if path.is_dir())
        self.assertEqual(len(roots), 5)
        for root in roots:
            with self.subTest(machine=root.name):
                folder = self.unpack(self.gather(root.name, "--root", root))
                guid = re.compile(r'guid="[^"]*"')  # scrubbed
                again, before = ([guid.sub("", line) for line in self.tool("dump", "--root", one)]
                                 for one in (folder, root))
                self.assertEqual(again, before)
                self.assertGreater(len(again), 2)

    def test_equal_machines_give_equal_bytes(self):
        root = CAPTURED / "32intel64-2p8co2t+8ve"
        one, two = (self.gather(name, "--root", root).read_bytes() for name in ("one", "two"))
        self.assertEqual(one, two)

    def test_the_tarball_lacks_addresses_and_serial_numbers(self):
        for name, root in (("here", ()), ("qib", ("--root", CAPTURED /
                                                   "40intel64-2g2n4c+pcilocality"))):
            with tarfile.open(self.gather(name, *root)) as tar:
                texts = [(member.name, tar.extractfile(member).read() if member.isfile() else b"")
                         for member in tar]
            self.assertGreater(len(texts), 10)
            everything = "\n".join(name + " " + content.decode() for name, content in texts)
            for pattern in (r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", r"\b\d+\.\d+\.\d+\.\d+\b(?!\.)",
                            r"(?i)serial", r"0011:7500", r"(?i)\buuid\b"):
                self.assertIsNone(re.search(pattern, everything), pattern)

    def test_the_tarball_can_be_written_to_standard_output(self):
        done = subprocess.run([TOOL, "topo", "gather", "-o", "-"], stdout=subprocess.PIPE,
                              env=self.environment(), check=True, timeout=support.TIMEOUT_S)
        listed = subprocess.run(["tar", "-tf", "-"], input=done.stdout, stdout=subprocess.PIPE,
                                check=True)
        self.assertIn(b"sys/class/net/", listed.stdout)


if __name__ == "__main__":
    support.main()
