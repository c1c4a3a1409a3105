"""Runs functions of a test as the ranks of a communicator, each in a process of its own.

A test file defines functions that take a Communicator, and ends with `ranks.main(globals())`:

    python FILE BUILD [-v] [TEST...]

BUILD is the build folder, whose library the ranks load. `Ranks.run(function, size)` fails with the
output of all ranks if one of them fails.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 120  # bound for a hang, generous for slow machines
_RANK = "--rank"
build = None


def environment(**more):
    """Returns the environment of a rank, without settings of Ringlet and variables of launchers."""
    prefixes = ("RINGLET_", "NCCL_", "OMPI_", "PMI", "SLURM_", "MASTER_", "TORCHELASTIC_")
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(prefixes) and name not in ("RANK", "WORLD_SIZE")}
    return {**kept, "PYTHONPATH": str(SOURCE / "python"), "PYTHONFAULTHANDLER": "1",
            "LD_LIBRARY_PATH": str(build / "lib"), "RINGLET_TIMEOUT": "60", "RINGLET_INIT_TIMEOUT": "60", **more}


def start(*arguments, **more):
    """Returns a process of this Python."""
    return subprocess.Popen([sys.executable, *map(str, arguments)], env=environment(**more), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def finish(processes):
    """Returns exit statuses and outputs, in order. Ends all processes at a deadline."""
    give_up, found = time.monotonic() + TIMEOUT_S, []
    try:
        for process in processes:
            output, _ = process.communicate(timeout=max(1, give_up - time.monotonic()))
            found.append((process.returncode, output))
    except subprocess.TimeoutExpired:
        found.append(("a hang", ""))
    finally:
        for process in processes[len(found) - 1:] if found else processes:
            process.kill()
            if len(found) <= processes.index(process) or found[-1][0] == "a hang":
                print(f"output of process {processes.index(process)}:", process.communicate()[0], file=sys.stderr)
    return found


class Ranks(unittest.TestCase):
    def run_ranks(self, function, size, statuses=None, **more):
        """Runs `function(comm)` on each rank. statuses: the expected exit statuses, if not all 0."""
        with tempfile.TemporaryDirectory() as folder:
            file = sys.modules[function.__module__].__file__
            found = finish([start(file, build, _RANK, function.__name__, os.path.join(folder, "id"), rank, size, **more)
                            for rank in range(size)])
        got = [status for status, _ in found]
        self.assertEqual(got, statuses or [0] * size, "\n".join(output for _, output in found))
        return [output for _, output in found]


def main(names):
    global build
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    if sys.argv[1:2] != [_RANK]:
        unittest.main()
    import ringlet

    function, path, rank, size = sys.argv[2:]
    with ringlet.Communicator.from_file(path, int(rank), int(size), timeout=TIMEOUT_S) as comm:
        names[function](comm)
