"""Runs a Python program in the environment of the clients through `ringlet emulate`, or reports a
missing environment.

    python run.py ENVIRONMENT_PYTHON RINGLET [--needs PACKAGE] [--machine NAME] ARGUMENT...

PyTorch's launcher leaves files in the temporary folder, so each run has a folder of its own and
removes it.
"""
import os
import subprocess
import sys
import tempfile

SKIPPED = 77
DEVICES = 8
MEMORY = "512MiB"

python, tool, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
needed = ["torch", "nccl4py", "nvidia-ml-py"]
if arguments[0] == "--needs":
    needed, arguments = [*needed, arguments[1]], arguments[2:]
machine = ["--devices", str(DEVICES), "--memory", MEMORY]
if arguments[0] == "--machine":
    machine, arguments = arguments[:2], arguments[2:]
PACKAGES = "import importlib.metadata as m, sys; [m.version(name) for name in sys.argv[1:]]"
if not os.path.exists(python) or subprocess.run(
        [python, "-c", PACKAGES, *needed],
        capture_output=True).returncode != 0:
    print(f"NOT RUN clients: {python} has not the programs that this test runs: it is skipped.")
    print("`./ringlet.sh test --clients` makes that environment where PyPI can be had.")
    sys.exit(SKIPPED)
environment = {name: value for name, value in os.environ.items()
               if not name.startswith(("RINGLET_", "NCCL_", "CUDA_", "LD_"))}
with tempfile.TemporaryDirectory(prefix="clients_") as folder:
    ended = subprocess.run(
        [tool, "emulate", *machine, "--", python, *arguments],
        env={**environment, "TMPDIR": folder})
sys.exit(ended.returncode if ended.returncode >= 0 else 128 - ended.returncode)
