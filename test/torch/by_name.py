"""Runs PyTorch's own tests of backends, by name, on Ringlet and on Gloo beside it.

    python by_name.py [--suite] [--tests FOLDER] [--python PYTHON]... [--json FILE] [NAME...]

--suite is the suite in PyTorch's package (suite.py). FOLDER is test/distributed of a checkout of
PyTorch's sources of the same version: its tests of fault tolerance and of windows run. PYTHON is
the interpreter of an environment with torch and ringlet, by default this one. NAME limits the tests
to names that contain it. Tests with the same outcome for the same reason share a row. Exit status
1: a test failed on Ringlet alone, without a reason in UNFIT.
"""
import argparse
import contextlib
import importlib
import json
import os
import pathlib
import subprocess
import sys
import unittest

BACKENDS = ("gloo", "ringlet")
# Tests specific to one backend: a part of the name, and the reason.
UNFIT = {
    "WindowTest.test_register_errors": "wants memory refused that is not in NCCL's pool; any memory will do here",
    "test_ddp_logging_data_cpu": "wants the backend's name and Gloo's threads from DDP's log",
}
TIMEOUT_S = 3600
OUTCOMES = ("passed", "skipped", "failed")
REASON_MAX = 160  # characters

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import torch_results  # noqa: E402


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
    """Adapts tests for CUDA. Its pools and streams do not matter here."""
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

        # Forked, as in suite.py: importing torch anew takes longer than the tests.
        MultiProcessTestCase._spawn_processes = lambda self: self._start_processes(
            torch.multiprocessing.get_context("fork").Process)
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(KINDS[kind](backend))
    record = Record()
    for test in tests:
        if not names or any(name in test.id() for name in names):
            test.run(record)
    os.write(out, (json.dumps(record.found) + "\n").encode())
    os._exit(0)


def outcomes(python, kind, backend, options):
    """Returns, for each test by name, the outcome and the reason of a missing one."""
    words = [python, __file__, "--here", kind, "--backend", backend, *options.names]
    path = [os.path.dirname(os.path.abspath(__file__)), options.tests or ""]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, path))}
    ran = subprocess.run(words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=TIMEOUT_S)
    if ran.returncode != 0 or not ran.stdout:
        sys.exit(f"{kind} on {backend}: exit status {ran.returncode}\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def rows_of(kind, found):
    """Rows of tests with equal outcomes and reason. `found`: by column, as `outcomes`."""
    rows = {}
    for name in sorted(set().union(*found)):
        cells = tuple(column.get(name, ("-", ""))[0] for column in found)
        unfit = next((reason for part, reason in UNFIT.items() if part in name), "")
        whys = [column[name][1] for column in found if name in column and column[name][1]]
        why = unfit or (whys[0] if whys else "")
        why = why if len(why) <= REASON_MAX else why[:REASON_MAX] + "..."
        rows.setdefault((cells, why), []).append(name.partition(".")[2])
    order = lambda item: (set(item[0][0]) == {"passed"}, item[0])
    return [[f"{kind}: " + ", ".join(names), len(names), *cells, why]
            for (cells, why), names in sorted(rows.items(), key=order)]


def fails_alone(kind, gloo, ringlet):
    """Returns tests that fail on Ringlet, not on Gloo, without a reason in UNFIT."""
    return [f"{kind}: {name}: {why}" for name, (outcome, why) in ringlet.items()
            if outcome == "failed" and gloo.get(name, ["-"])[0] != "failed"
            and not any(part in name for part in UNFIT)]


def version_of(python):
    ask = "import torch; print(torch.__version__.partition('+')[0])"
    return subprocess.run([python, "-c", ask], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def tables_of(kinds, options):
    """Returns the tables, and the failures on Ringlet alone."""
    pythons = options.python or [sys.executable]
    columns = [(python, backend) for python in pythons for backend in BACKENDS]
    versions = {python: version_of(python) for python in pythons}
    titles = [f"{backend.capitalize()}, torch {versions[python]}" for python, backend in columns]
    counts, rows, alone = [[title, 0, 0, 0] for title in titles], [], []
    for kind in kinds:
        found = [outcomes(python, kind, backend, options) for python, backend in columns]
        rows += rows_of(kind, found)
        for each, count in zip(found, counts):
            for outcome, _ in each.values():
                count[1 + OUTCOMES.index(outcome)] += 1
        for gloo, ringlet in zip(found[::2], found[1::2]):
            alone += fails_alone(kind, gloo, ringlet)
    return [{"title": "How many", "columns": ["", *OUTCOMES], "rows": counts},
            {"title": "By name", "columns": ["tests", "how many", *titles, "why not"], "rows": rows}], alone, versions


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="Example: by_name.py --suite")
    parser.add_argument("--suite", action="store_true", help="the suite in PyTorch's package")
    parser.add_argument("--tests", metavar="FOLDER", help="test/distributed of PyTorch's sources")
    parser.add_argument("--python", action="append", help="of an environment; may be repeated")
    torch_results.add_arguments(parser)
    parser.add_argument("--here", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--backend", choices=BACKENDS, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.here:
        return run_here(options.here, options.backend, options.names)
    kinds = (["fault tolerance", "windows"] if options.tests else []) + (["suite"] if options.suite else [])
    if not kinds:
        parser.error("nothing to run: --suite, --tests or both")
    tables, alone, versions = tables_of(kinds, options)
    torch_results.write(
        options, what=f"PyTorch's own tests: {', '.join(kinds)}", order=33,
        beside=[f"Gloo of PyTorch {version}" for version in versions.values()],
        where_torch=", ".join(versions.values()),
        command="python test/torch/by_name.py " + ("--suite " if options.suite else "") + (
            "--tests FOLDER " if options.tests else "") + "--python PYTHON " * len(versions) + "--json FILE",
        note=["Ringlet stands where PyTorch makes Gloo's groups, so that tests that ask for Gloo by name run too."],
        tables=tables)
    for table in tables:
        for row in (table["columns"], *table["rows"]):
            print(" | ".join(map(str, row)))
    for each in alone:
        print(f"ON RINGLET ALONE: {each}")
    return 1 if alone else 0


if __name__ == "__main__":
    sys.exit(main())
