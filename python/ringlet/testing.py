"""Tests of NCCL programs on machines that need not exist, with or without pytest.

    from ringlet.testing import emulated

    @emulated("dgx-h100", ranks=8)
    def test_all_reduce(rank):
        ...                         # runs in eight processes, each on a GPU of its own

`ringlet emulate` starts each rank as a process with the CUDA, NVML and NCCL of the machine, and
with RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them. The test fails
with the ranks' output if a rank fails; a rank that hangs is ended after `timeout` seconds.
"""

import functools
import importlib.util
import inspect
import os
import pathlib
import shutil
import subprocess
import sys

__all__ = ["EmulationError", "emulated", "run_emulated"]


class EmulationError(AssertionError):
    """A rank failed or timed out. The text contains the output of all ranks."""


def _tool():
    named = os.environ.get("RINGLET_TOOL")
    found = named or shutil.which("ringlet")
    if not found:
        raise EmulationError("the tool ringlet is not on PATH: install it, or set RINGLET_TOOL to its path")
    return found


def run_emulated(program, *, machine=None, ranks=None, hosts=None, options=(), env=None, timeout=300.0):
    """Runs `program`, a list of words, under `ringlet emulate`, and returns its ranks' output as one
    text.

    machine: a name of `ringlet emulate --list-machines`, a topology file, or a description.
    ranks, hosts: number of processes, and of emulated hosts that share them; by default one
    process.
    options: further words for `ringlet emulate`, such as "--kill", "3@all_reduce:10".
    env: variables in addition to those of this process.

    Raises EmulationError if the exit status is not 0.
    """
    command = [_tool(), "emulate"]
    for name, value in (("--machine", machine), ("--ranks", ranks), ("--hosts", hosts)):
        if value is not None:
            command += [name, str(value)]
    process = subprocess.Popen(
        [*command, *options, "--", *map(str, program)],
        env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True)  # fmt: skip
    try:
        written, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.terminate()  # ends its ranks too
        try:
            written, _ = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            written, _ = process.communicate()
        raise EmulationError(f"not done after {timeout} s; output until then:\n{written}") from None
    if process.returncode != 0:
        raise EmulationError(f"exit status {process.returncode}; output:\n{written}")
    return written


def emulated(machine=None, *, ranks=None, hosts=None, options=(), env=None, timeout=300.0):
    """Turns a function into a test that runs in each of `ranks` processes; arguments as for
    run_emulated.

    A parameter `rank` receives the number of the process, and a parameter `world_size` the number
    of processes. The function must be defined at the top level of its file, which each process
    reads again.
    """

    def decorate(function):
        file = pathlib.Path(inspect.getfile(function)).resolve()

        @functools.wraps(function)
        def in_processes():
            program = [sys.executable, __file__, file, function.__qualname__]
            run_emulated(program, machine=machine, ranks=ranks or hosts or 1, hosts=hosts, options=options,
                         env=env, timeout=timeout)  # fmt: skip

        # Otherwise pytest would search fixtures with the names of its parameters.
        del in_processes.__wrapped__
        in_processes.ringlet_function = function
        return in_processes

    return decorate


def _run_as_rank(file, name):
    sys.path[0] = str(pathlib.Path(file).parent)  # replaces this folder, which has a torch.py
    spec = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    function = getattr(module, name).ringlet_function
    known = {"rank": int(os.environ["RANK"]), "world_size": int(os.environ["WORLD_SIZE"])}
    function(**{name: known[name] for name in inspect.signature(function).parameters})


if __name__ == "__main__":
    _run_as_rank(*sys.argv[1:])
