#!/usr/bin/env python3
"""Compares what Ringlet costs with test/cost/costs.json, so that no change makes it dearer unnoticed.

    cost_test.py --calls PROGRAM --library FILE --compiler TEXT [--update]

The costs are the instructions of each call of PROGRAM (calls.c), counted by Valgrind's callgrind; the
threads and descriptors of a communicator; the size of the library FILE; and the lines of each
package. None of them depends on the load of the machine.

Instructions depend on the compiler. Where TEXT is not the compiler in costs.json, a call may take
OTHER_COMPILER times as many. A cost that has fallen by more than SLACK fails too, so that the file
keeps the gain. --update writes today's costs.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COSTS = pathlib.Path(__file__).with_name("costs.json")
SLACK = 0.05
OTHER_COMPILER = 1.4
LINES_STEP = 250  # a ceiling of lines is a multiple of this
RUNS = {"shared memory": ([], "auto"), "memory links": (["messages"], "shm")}
# Other networks would have other descriptors.
NETWORK = {"RINGLET_SOCKET_IFNAME": "=lo", "RINGLET_SOCKET_FAMILY": "AF_INET"}
TESTS = re.compile(r"_test\.|_fuzz\.|_bench\.|for_test")
CALL = re.compile(r"^ *([\d,]+) .*?:([A-Z]\w*\d) \[")


def run(command, links):
    """Returns the numbers that the program prints."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **NETWORK, "RINGLET_LINKS": links})
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return {name: int(number) for name, number in map(str.split, done.stdout.splitlines())}


def instructions(program, arguments, links):
    """Returns the instructions of each call of the program."""
    with tempfile.TemporaryDirectory() as folder:
        counts = pathlib.Path(folder) / "counts"
        printed = run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", program, *arguments], links)
        table = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", counts], check=True,
                               capture_output=True, text=True).stdout
    found = (CALL.match(line) for line in table.splitlines() if f"{pathlib.Path(program).name}]" in line)
    return {one[2]: round(int(one[1].replace(",", "")) / printed["calls"]) for one in found if one}


def lines_by_package():
    """Returns the lines of sources and headers outside tests."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "src", "include"], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    lines = {}
    for name in names:
        if TESTS.search(name) or not name.endswith((".cpp", ".hpp", ".c", ".h", ".py")):
            continue
        package = "include" if name.startswith("include") else name.split("/")[1]
        lines[package] = lines.get(package, 0) + (ROOT / name).read_bytes().count(b"\n")
    return lines


def measure(options):
    costs = {"compiler": options.compiler, "instructions": {}}
    for way, (arguments, links) in RUNS.items():
        calls = instructions(options.calls, arguments, links)
        if len(calls) < 5:
            sys.exit(f"callgrind found only {sorted(calls)} in {options.calls}")
        costs["instructions"] |= {f"{way}, {name}": count for name, count in sorted(calls.items())}
    printed = run([options.calls], "auto")
    costs["process"] = {name: printed[name] for name in ("descriptors", "threads")}
    sections = subprocess.run(["size", options.library], check=True, capture_output=True, text=True).stdout
    costs["library"] = {"KiB of code": int(sections.splitlines()[1].split()[0]) // 1024}
    costs["lines, at most"] = lines_by_package()
    return costs


def ceiling_of_lines(lines):
    return -(-lines // LINES_STEP) * LINES_STEP


def differences(recorded, measured):
    """Yields a line for each cost that is not as recorded."""
    known_compiler = recorded["compiler"] == measured["compiler"]
    for kind in ("instructions", "process", "library", "lines, at most"):
        for name in sorted({*recorded[kind], *measured[kind]}):
            old, new = recorded[kind].get(name), measured[kind].get(name)
            if old is None or new is None:
                yield f"{kind}: {name} is {'not recorded' if old is None else 'no longer measured'}"
                continue
            compiled = kind in ("instructions", "library")
            exact = kind == "process" or (compiled and known_compiler)
            slack = 0 if kind in ("process", "lines, at most") else SLACK if exact else OTHER_COMPILER - 1
            if new > old * (1 + slack):
                yield f"{kind}: {name} rose from {old} to {new}"
            elif exact and new < old * (1 - slack):
                yield f"{kind}: {name} fell from {old} to {new}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    if not shutil.which("valgrind"):
        sys.exit("cost_test.py: Valgrind is missing: install the package valgrind, as ./ringlet.sh test does")
    parser.add_argument("--calls", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    measured = measure(options)
    if options.update:
        lines = measured["lines, at most"]
        measured["lines, at most"] = {name: ceiling_of_lines(lines[name]) for name in sorted(lines)}
        COSTS.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    recorded = json.loads(COSTS.read_text(encoding="utf-8"))
    for kind in ("instructions", "process", "library", "lines, at most"):
        for name, value in measured[kind].items():
            print(f"{kind:14} {name:40} {value:>8}   recorded {recorded[kind].get(name, '-'):>8}")
    found = list(differences(recorded, measured))
    for line in found:
        print(f"COST {line}")
    if found:
        print("If a rise is worth its reason, or a cost has fallen, run this command with --update and commit "
              "test/cost/costs.json with the change:\n  " + " ".join([sys.executable, *sys.argv, "--update"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
