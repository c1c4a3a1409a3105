"""Runs a Python program in the environment with PyTorch, or says that there is none.

    python run.py ENVIRONMENT_PYTHON ARGUMENT...
"""
import os
import subprocess
import sys

SKIPPED = 77

python, arguments = sys.argv[1], sys.argv[2:]
found = os.path.exists(python) and subprocess.run(
    [python, "-c", "import torch, ringlet; ringlet.Options"], capture_output=True, text=True
)
if not found or found.returncode != 0:
    print(f"{python} cannot import torch and ringlet: this test needs them and is skipped.")
    print("`./ringlet.sh demo` makes that environment where PyTorch can be had.")
    if found:
        print(found.stderr)
    sys.exit(SKIPPED)
os.execv(python, [python, *arguments])
