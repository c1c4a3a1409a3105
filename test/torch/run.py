"""Runs a Python program in the environment with PyTorch, or reports a missing environment.

    python run.py ENVIRONMENT_PYTHON [--needs PACKAGE] ARGUMENT...

PyTorch's launcher and its own suite leave files in the temporary folder, so each run has a folder
of its own and removes it.
"""
import os
import subprocess
import sys
import tempfile

SKIPPED = 77

python, arguments = sys.argv[1], sys.argv[2:]
needed = []
while arguments[0] == "--needs":
    needed.append(arguments[1])
    arguments = arguments[2:]
found = os.path.exists(python) and subprocess.run(
    [python, "-c", "import torch, ringlet; ringlet.ops"], capture_output=True, text=True
)
if not found or found.returncode != 0:
    print(f"NOT RUN torch: {python} cannot import torch and ringlet: this test needs them and is skipped.")
    print("`./ringlet.sh demo` makes that environment where PyTorch can be had.")
    if found:
        print(found.stderr)
    sys.exit(SKIPPED)
missing = [name for name in needed if subprocess.run(
    [python, "-c", f"import {name}"], capture_output=True).returncode != 0]
if missing:
    print(f"NOT RUN torch: {python} cannot import {', '.join(missing)}, so the tests of it are skipped.")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory(prefix="torch_") as folder:
    ended = subprocess.run([python, *arguments], env={**os.environ, "TMPDIR": folder})
sys.exit(ended.returncode if ended.returncode >= 0 else 128 - ended.returncode)
