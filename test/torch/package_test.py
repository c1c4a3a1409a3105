"""What of the Python package needs neither torch nor an extension.

    python package_test.py [-v]
"""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "python"))

import ringlet  # noqa: E402
from ringlet import _tool  # noqa: E402
from ringlet.environment import as_text, collect_env  # noqa: E402


class Package(unittest.TestCase):
    def test_importing_it_imports_no_torch(self):
        ran = subprocess.run([sys.executable, "-c", "import ringlet, sys; print('torch' in sys.modules)"],
                             capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual((ran.returncode, ran.stdout), (0, "False\n"), ran.stderr)

    def test_an_unknown_name_is_an_attribute_error(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'optoins'"):
            ringlet.optoins
        self.assertIn("Options", dir(ringlet))

    def test_the_environment_has_settings_and_no_secrets(self):
        found = collect_env({"RINGLET_DEBUG": "INFO", "RINGLET_SECRET": "s3cret", "NCCL_COMM_ID": "host:1",
                             "RANK": "3", "HOME": "/root"})
        self.assertEqual(found["settings"], {"NCCL_COMM_ID": "(set)", "RANK": "3", "RINGLET_DEBUG": "INFO",
                                             "RINGLET_SECRET": "(set)"})
        self.assertNotIn("s3cret", as_text(found))
        self.assertIn("  RANK: 3", as_text(found).splitlines())

    def test_the_environment_as_json(self):
        ran = subprocess.run([sys.executable, "-m", "ringlet", "--json"], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": str(SOURCE / "python")})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(json.loads(ran.stdout)["folder"], str(SOURCE / "python" / "ringlet"))

    def test_the_tool_of_another_installation_is_found_and_no_script(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            for folder, content in ((first, b"#!/usr/bin/python3\n"), (second, b"\x7fELF...")):
                file = pathlib.Path(folder) / "ringlet"
                file.write_bytes(content)
                file.chmod(file.stat().st_mode | stat.S_IXUSR)
            self.assertEqual(_tool.elsewhere(f"{first}::{second}:/nowhere"), pathlib.Path(second) / "ringlet")
            self.assertIsNone(_tool.elsewhere(f"{first}:/nowhere"))


if __name__ == "__main__":
    unittest.main()
