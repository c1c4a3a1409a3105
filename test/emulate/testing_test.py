"""Tests ringlet.testing: functions in the processes of an emulated machine, and the report of their
failures.

testing_test.py TOOL PACKAGE
"""

import ctypes
import importlib.util
import json
import os
import sys
import tempfile

TOOL, PACKAGE = (sys.argv[1:] + ["", ""])[:2] if __name__ == "__main__" else ("", os.environ.get("TESTING_PY", ""))
spec = importlib.util.spec_from_file_location("ringlet_testing", PACKAGE or os.environ["TESTING_PY"])
testing = importlib.util.module_from_spec(spec)
spec.loader.exec_module(testing)


def devices():
    count = ctypes.c_int()
    assert ctypes.CDLL("libcudart.so.12").cudaGetDeviceCount(ctypes.byref(count)) == 0
    return count.value


@testing.emulated("dgx-h100", ranks=4)
def four_ranks(rank, world_size):
    assert world_size == 4 and 0 <= rank < 4
    assert int(os.environ["LOCAL_RANK"]) == rank
    assert devices() == 8


@testing.emulated("dgx-a100", hosts=2, ranks=4)
def two_hosts(rank):
    assert int(os.environ["LOCAL_RANK"]) == rank % 2
    assert int(os.environ["RINGLET_EMULATE_HOST"]) == rank // 2


@testing.emulated("dgx-h100", ranks=2)
def one_fails(rank):
    assert rank != 1, "rank 1 does not like it"


@testing.emulated("dgx-h100", ranks=2, timeout=3)
def one_hangs(rank):
    import threading

    if rank == 0:
        threading.Event().wait()


@testing.emulated("no-such-machine", ranks=2)
def nowhere():
    pass


def expect_failure(function, words):
    try:
        function()
    except testing.EmulationError as error:
        assert words in str(error), f"{function}: {error}"
        return
    raise AssertionError(f"{function} passed")


def options_of_emulate():
    """Tests the traffic of a program of four ranks on two hosts, and the deaths of its ranks."""
    program = [os.path.join(os.path.dirname(TOOL), "host_ranks")]
    ranks = {"machine": "perlmutter-a100", "ranks": 4, "hosts": 2}
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        testing.run_emulated(program, **ranks, options=["--report", report, "--pace"])
        with open(report) as file:
            links = json.load(file)["links"]
        assert links and all(link["measured_bytes"] == link["planned_bytes"] for link in links), links
    testing.run_emulated(program, **ranks, options=["--drop-nvlink", "1"])
    expect_failure(lambda: testing.run_emulated(program, **ranks, options=["--kill", "3@all_reduce:1"]), "SIGKILL")


def main():
    os.environ.update(RINGLET_TOOL=TOOL, TESTING_PY=PACKAGE)
    four_ranks()
    two_hosts()
    expect_failure(one_fails, "rank 1 does not like it")
    expect_failure(one_hangs, "not done after 3 s")
    expect_failure(nowhere, "no-such-machine")
    written = testing.run_emulated(["sh", "-c", "echo rank $RANK"], machine="dgx-h100", ranks=2)
    assert "rank 0" in written and "rank 1" in written, written
    expect_failure(lambda: testing.run_emulated(["true"], options=["--kill", "soon"]), "RANK@OPERATION")
    options_of_emulate()


if __name__ == "__main__":
    main()
