"""PyTorch's own tests of backends, by name, on Ringlet and on Gloo beside it.

    python by_name.py [--suite] [--tests FOLDER] [--json] [NAME...]

--suite is the suite in PyTorch's package (suite.py). FOLDER is test/distributed of a checkout of
PyTorch's sources of the same version: its tests of fault tolerance and of windows are run. NAME limits
the tests to those whose name contains it. Exit status 1: a test failed on Ringlet alone, and UNFIT does
not say why.
"""
import argparse
import contextlib
import importlib
import json
import os
import subprocess
import sys
import unittest

BACKENDS = ("gloo", "ringlet")
# Tests that ask for something of one backend: a part of the name, and why.
UNFIT = {
    "WindowTest.test_register_errors": "wants memory refused that is not in NCCL's pool; any memory will do here",
    "test_ddp_logging_data_cpu": "wants the backend's name and Gloo's threads from DDP's log",
}
TIMEOUT_S = 3600


class Record(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.found = {}

    def name(self, test):
        return ".".join(test.id().split(".")[-2:])

    def addSuccess(self, test):
        self.found[self.name(test)] = ("passed", "")

    def addSkip(self, test, reason):
        self.found[self.name(test)] = ("skipped", reason)

    def addFailure(self, test, error):
        self.found[self.name(test)] = ("failed", str(error[1]).strip().splitlines()[-1] if str(error[1]) else "")

    addError = addFailure


def fault_tolerance(backend):
    module = importlib.import_module("test_c10d_fault_tolerance")
    made = module._make_fault_tolerance_test_class(module.FaultToleranceBackend(backend, "cpu"))
    made.__name__ = made.__qualname__ = "FaultToleranceTest"
    return made


def windows(backend):
    """They are written for CUDA, whose pools and streams have no part in it here."""
    import torch
    from torch.testing._internal.common_distributed import MultiProcessTestCase

    module = importlib.import_module("test_c10d_window")
    torch.cuda.use_mem_pool = lambda pool: contextlib.nullcontext()
    torch.cuda.synchronize = lambda *device: None

    class WindowTest(module.AbstractWindowTest, MultiProcessTestCase):
        backend_name, device_type = backend, "cpu"
        device = torch.device("cpu")

        def _make_pool(self):
            return None

        def _probe_window_support(self, pool):
            if not torch.distributed._supports_window():
                self.skipTest(f"{backend} has no windows")

        def _init_pg(self):
            try:
                super()._init_pg()
            except AssertionError:
                self.skipTest(f"{backend} has no windows")

    WindowTest.__qualname__ = "WindowTest"
    return WindowTest


def suite(backend):
    os.environ["BACKEND"] = "gloo" if backend == "gloo" else "ringlet-as-gloo"
    return importlib.import_module("suite").TestBackend


KINDS = {"fault tolerance": fault_tolerance, "windows": windows, "suite": suite}


def run_here(kind, backend, names):
    """Prints a line of JSON: the outcome of each test."""
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if kind != "suite":
        import torch
        from torch.testing._internal.common_distributed import MultiProcessTestCase

        # Forked, as suite.py does it: importing torch anew takes longer than the tests.
        MultiProcessTestCase._spawn_processes = lambda self: self._start_processes(
            torch.multiprocessing.get_context("fork").Process)
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(KINDS[kind](backend))
    record = Record()
    for test in tests:
        if not names or any(name in test.id() for name in names):
            test.run(record)
    os.write(out, (json.dumps(record.found) + "\n").encode())
    os._exit(0)


def outcomes(kind, backend, options):
    words = [sys.executable, __file__, "--here", kind, "--backend", backend, *options.names]
    path = [os.path.dirname(os.path.abspath(__file__)), options.tests or ""]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, path))}
    ran = subprocess.run(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=TIMEOUT_S)
    if ran.returncode != 0 or not ran.stdout:
        sys.exit(f"{kind} on {backend}: exit status {ran.returncode}\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="Example: by_name.py --suite --json")
    parser.add_argument("--suite", action="store_true", help="the suite in PyTorch's package")
    parser.add_argument("--tests", metavar="FOLDER", help="test/distributed of PyTorch's sources")
    parser.add_argument("--json", action="store_true", help="a table as bench/results has them")
    parser.add_argument("--here", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--backend", choices=BACKENDS, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.here:
        return run_here(options.here, options.backend, options.names)
    kinds = (["fault tolerance", "windows"] if options.tests else []) + (["suite"] if options.suite else [])
    if not kinds:
        parser.error("nothing to run: --suite, --tests or both")
    import torch

    rows, failed = [], False
    for kind in kinds:
        found = {backend: outcomes(kind, backend, options) for backend in BACKENDS}
        for name in sorted(found["ringlet"]):
            (gloo, _), (ringlet, why) = (found[backend].get(name, ("-", "")) for backend in BACKENDS)
            unfit = next((reason for part, reason in UNFIT.items() if part in name), "")
            failed |= ringlet == "failed" and gloo != "failed" and not unfit
            rows.append([kind, name, gloo, ringlet, unfit or why])
    columns = ["tests", "name", f"Gloo, torch {torch.__version__}", f"Ringlet, torch {torch.__version__}", "why"]
    if options.json:
        print(json.dumps({"columns": columns, "rows": rows}))
    else:
        for row in rows:
            print(" | ".join(row))
        for backend, column in zip(BACKENDS, (2, 3)):
            counts = {word: sum(row[column] == word for row in rows) for word in ("passed", "skipped", "failed")}
            print(f"{backend}: " + ", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
