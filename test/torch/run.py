"""Runs a Python program in the environment with PyTorch, or reports a missing environment.

    python run.py ENVIRONMENT_PYTHON [--needs PACKAGE] [--deadline SECONDS] ARGUMENT...

PyTorch's launcher and its own suite leave files in the temporary folder, so each run has a folder
of its own and removes it.

A program that hangs is reported: the communicators of its processes by `ringlet status`, and where
each process is in its Python code. Then it is killed.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77
DEADLINE_S = 750  # without --deadline; CTest kills a test after 900 s, without a report
KILL_AFTER_S = 30


def descendants(pid):
    """Returns the processes that `pid` has started, and those that they have, parents first."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [pid]
    for one in found:
        found.extend(children.get(one, []))
    return found


def send(signal_number, pids):
    for pid in pids:
        try:
            os.kill(pid, signal_number)
        except ProcessLookupError:
            pass


def report_hang(process, deadline, tool):
    print(f"HANG: the program has not ended after {deadline:g} s", flush=True)
    pids = descendants(process.pid)
    try:
        if tool:
            subprocess.run([tool, "status"], timeout=KILL_AFTER_S)
        for pid in pids:
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(bytes(1), b" ")
            print(f"process {pid}: {command}", flush=True)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"the report is not complete: {error}", flush=True)
    # Their handlers (PYTHONFAULTHANDLER) print the stacks. Workers are last in the list and get the
    # signal first, so that their launchers can print their output.
    for pid in reversed(pids):
        send(signal.SIGABRT, [pid])
        try:
            process.wait(KILL_AFTER_S / len(pids))
        except subprocess.TimeoutExpired:
            pass
    send(signal.SIGKILL, pids)


python, arguments = sys.argv[1], sys.argv[2:]
needed, deadline = [], DEADLINE_S
while arguments[0] in ("--needs", "--deadline"):
    option, value, *arguments = arguments
    if option == "--needs":
        needed.append(value)
    else:
        deadline = float(value)
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
    environment = {**os.environ, "TMPDIR": folder, "PYTHONFAULTHANDLER": "1"}
    process = subprocess.Popen([python, *arguments], env=environment)
    try:
        process.wait(deadline)
    except subprocess.TimeoutExpired:
        report_hang(process, deadline, os.environ.get("RINGLET_TOOL"))
        process.wait()
        sys.exit(1)
sys.exit(process.returncode if process.returncode >= 0 else 128 - process.returncode)
