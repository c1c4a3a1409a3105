#!/usr/bin/env python3
"""Plants small faults in a layer and reports the share that the layer's tests catch.

    tools/mutate.py LAYER [--mutations 100] [--seed 1] [--jobs 1] [--json FILE] [--list]
                    [--also PROGRAM]... [--sources-only]

LAYER is a folder of src or of src/core, such as tool or base. Its own program, LAYER_test, has the
counting tests. The programs of --also, such as simulation_test for bootstrap or
link_conformance_test for transport, run for the faults that it misses, and count apart. The script
builds a copy of the tree with every fault behind a switch, once. Then it runs the tests that reach
a fault with the fault switched on. A failure, a crash and an endless run count as caught. A fault
that no test reaches survives without a run. The script prints survivors as `file:line: kind:
original => fault`.

It does not plant faults in text for people (logs, messages, assertions), in compile-time code, and
in hints that only change the speed (reserve, madvise, yields). docs/contributing/testing.md
explains the result. tools/mutate_equivalent.txt lists faults without an effect, with reasons; they
count apart. The tests run in namespaces of their own, because a fault may send a signal to every
reachable process.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutations  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
EQUIVALENT = pathlib.Path(__file__).with_name("mutate_equivalent.txt")
NOT_A_SOURCE = re.compile(r"(?:_test|_fuzz|_bench|_for_test)$")
SPARE = 1.3          # plant more places than requested, because some do not compile
FIRST_TESTS = 10     # of the tests that reach a fault, the fastest run first
SECONDS_AT_LEAST = 20
TIMES_SLOWER = 8
FILTER_BYTES = 100_000

SWITCH = """#pragma once
#include <type_traits>
extern "C" {
extern int ringlet_mutant_chosen;
extern unsigned char* ringlet_mutant_reached;
}
inline bool ringlet_mutant_now(int number) {
  if (ringlet_mutant_reached) __atomic_store_n(ringlet_mutant_reached + number, 1, __ATOMIC_RELAXED);
  return ringlet_mutant_chosen == number;
}
constexpr bool ringlet_mutant(int number) {
  return std::is_constant_evaluated() ? false : ringlet_mutant_now(number);
}
"""
SWITCH_SOURCE = """#include "ringlet_mutant.hpp"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
int ringlet_mutant_chosen = -1;
unsigned char* ringlet_mutant_reached = nullptr;
__attribute__((constructor(101))) static void Choose() {
  if (const char* chosen = getenv("RINGLET_MUTANT")) ringlet_mutant_chosen = atoi(chosen);
  const char* map = getenv("RINGLET_MUTANT_MAP");
  const int file = map ? open(map, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* at = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at != MAP_FAILED) ringlet_mutant_reached = static_cast<unsigned char*>(at);
  close(file);
}
"""
# Writes a line per test: its name, its milliseconds and the faults that it reached.
LISTENER_SOURCE = """#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include "ringlet_mutant.hpp"
namespace {
class Reached : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { Write("*", 0); }
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    Write(name.c_str(), static_cast<long>(test.result()->elapsed_time()));
  }
  void Write(const char* name, long elapsed) {
    const char* path = getenv("RINGLET_MUTANT_REPORT");
    FILE* file = path && ringlet_mutant_reached ? fopen(path, "a") : nullptr;
    if (!file) return;
    fprintf(file, "%s %ld", name, elapsed);
    for (int i = 0; i < 65536; ++i)
      if (ringlet_mutant_reached[i]) fprintf(file, " %d", i), ringlet_mutant_reached[i] = 0;
    fprintf(file, "\\n");
    fclose(file);
  }
};
const bool added = [] {
  if (getenv("RINGLET_MUTANT_REPORT"))
    testing::UnitTest::GetInstance()->listeners().Append(new Reached);
  return true;
}();
}  // namespace
"""


def say(text):
    print(text, flush=True)


def folder_of(root, layer):
    in_core = root / "src" / "core" / layer
    return in_core if in_core.is_dir() else root / "src" / layer


def sources(root, layer):
    return [path for path in sorted(folder_of(root, layer).rglob("*")) if path.suffix in (".cpp", ".hpp")
            and not NOT_A_SOURCE.search(path.stem)]


def places(root, layer, suffixes=(".cpp", ".hpp"), part=""):
    """\param part  limits the search to this folder of the layer"""
    found = []
    for path in sources(root, layer):
        if path.suffix not in suffixes or folder_of(root, layer) / part not in path.parents:
            continue
        code = path.read_text(encoding="utf-8")
        found += mutations.Source(path.relative_to(root).as_posix(), code).find()
    return found


def draw(found, count, seed):
    """Returns the drawn places in order. The first ones that compile count."""
    shuffled = list(found)
    random.Random(seed).shuffle(shuffled)
    return mutations.compatible(shuffled[:int(count * SPARE) + 1])


def copy_tree(root, scratch):
    """Copies tracked and new files. Unchanged files keep their time, for a short rebuild."""
    names = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                            "--exclude-standard"], check=True, capture_output=True).stdout
    for name in names.decode().split("\0"):
        if name and (root / name).is_file():
            write(scratch / name, (root / name).read_bytes())
            shutil.copymode(root / name, scratch / name)


def write(path, content):
    content = content if isinstance(content, bytes) else content.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)


class Mutants:
    """The drawn faults in a copy of the tree, and the program with all of them."""

    def __init__(self, root, layer, drawn, scratch, jobs, also=()):
        self.root, self.layer, self.scratch, self.jobs = root, layer, scratch, jobs
        self.drawn = dict(enumerate(drawn))
        self.dropped = set()
        self.lists = (folder_of(root, layer) / "CMakeLists.txt").read_text(encoding="utf-8")
        named = re.search(r"ringlet_layer\((\w+)", self.lists)
        self.name = named.group(1) if named else layer.split("/")[-1]
        self.programs = [f"{self.name}_test", *also]

    def plant(self):
        by_file = {}
        for number, place in self.drawn.items():
            if number not in self.dropped:
                by_file.setdefault(place.file, []).append((number, place))
        for path in sources(self.root, self.layer):
            name = path.relative_to(self.root).as_posix()
            code = path.read_text(encoding="utf-8")
            if name in by_file:
                quiet = "#pragma GCC system_header\n" if path.suffix == ".hpp" else ""
                code = f'#include "ringlet_mutant.hpp"\n{quiet}#line 1\n' + \
                    mutations.plant(code, by_file[name])
            write(self.scratch / name, code)

    def prepare(self):
        copy_tree(self.root, self.scratch)
        own = folder_of(self.scratch, self.layer)
        write(own.parent / "ringlet_mutant.hpp", SWITCH)
        write(own / "ringlet_mutant.cpp", SWITCH_SOURCE)
        write(own / "ringlet_mutant_test.cpp", LISTENER_SOURCE)
        # Other flags and units stay, so a compiler cache can serve sources without a fault.
        write(own / "CMakeLists.txt",
              f"{self.lists}\ntarget_compile_options(ringlet_{self.name} PRIVATE -w -O1)\n"
              f"set_target_properties(ringlet_{self.name} PROPERTIES UNITY_BUILD OFF)\n")
        self.plant()
        self.run(["cmake", "--preset", "release", "--log-level=WARNING", "-DRINGLET_TESTS=ON",
                  "-DRINGLET_BENCHMARKS=OFF", "-S", str(self.scratch)])

    def run(self, command):
        done = subprocess.run(command, cwd=self.scratch, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}")

    def build(self):
        """Builds the tests, without the faults that do not compile."""
        while True:
            command = ["cmake", "--build", "build", "-j", str(self.jobs), "--target",
                       *self.programs, "--", "-k", "0"]
            done = subprocess.run(command, cwd=self.scratch, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            if done.returncode == 0:
                return
            guilty = self.guilty(done.stdout) - self.dropped
            if not guilty:
                sys.exit(f"{self.programs} do not build:\n{done.stdout[-3000:]}")
            self.dropped |= guilty
            say(f"{len(guilty)} of the faults do not compile; building without them")
            self.plant()

    def guilty(self, output):
        """Returns the faults on lines with errors, or else all faults of such a file."""
        found = set()
        for part in re.split(r"^FAILED: ", output, flags=re.M)[1:]:
            here = {number for name, line in re.findall(r"^(\S+?):(\d+):\d+: ", part, re.M)
                    for number, place in self.drawn.items()
                    if name.endswith(place.file) and place.line <= int(line) <= place.last_line}
            here -= self.dropped
            source = re.search(r"(src/\S+?\.cpp)", part)
            if not here and source:
                here = {number for number, place in self.drawn.items()
                        if source.group(1).endswith(pathlib.Path(place.file).name)}
            found |= here
        return found


class Runs:
    """Runs a program of tests, with or without a fault."""

    def __init__(self, program, work):
        self.program, self.work = program, work
        self.prefix = isolation()
        self.tests = {}      # name: milliseconds
        self.reached = {}    # number: names of tests
        self.seconds = 0     # without a fault

    def start(self, environment, arguments, seconds):
        """Returns the exit status, or None after a timeout."""
        variables = {**os.environ, **environment, "TMPDIR": str(self.work)}
        with open(self.work / "output", "w", encoding="utf-8") as output:
            process = subprocess.Popen(
                [*self.prefix, str(self.program), "--gtest_brief=1", *arguments], env=variables,
                cwd=self.program.parent.parent, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True)
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()

    def baseline(self):
        """Runs without a fault: all tests pass, and record the faults that they reach."""
        reached, report = self.work / "map", self.work / "report"
        reached.write_bytes(bytes(65536))
        report.write_text("")
        began = time.monotonic()
        status = self.start({"RINGLET_MUTANT_MAP": str(reached),
                             "RINGLET_MUTANT_REPORT": str(report)}, [], 1800)
        if status != 0:
            sys.exit(f"{self.program.name} fails without a fault:\n" +
                     (self.work / "output").read_text(errors="replace")[-3000:])
        self.seconds = time.monotonic() - began
        # The rest of the map was reached after the last test, or by a program without reports.
        always = {number for number, byte in enumerate(reached.read_bytes()) if byte}
        for line in report.read_text().splitlines():
            name, elapsed, *numbers = line.split()
            if name == "*":
                always |= set(map(int, numbers))
                continue
            self.tests[name] = int(elapsed)
            for number in numbers:
                self.reached.setdefault(int(number), set()).add(name)
        for number in always:
            self.reached[number] = set(self.tests or ["*"])

    def verdict(self, number):
        tests = sorted(self.reached.get(number, ()), key=lambda name: self.tests.get(name, 0))
        if not tests:
            return "not reached"
        if not self.tests:
            return self.verdict_of(number, ["--gtest_fail_fast"],
                                   SECONDS_AT_LEAST + TIMES_SLOWER * self.seconds)
        for batch in (tests[:FIRST_TESTS], tests[FIRST_TESTS:]):
            if not batch:
                continue
            names = ":".join(batch)
            arguments = ["--gtest_fail_fast"]
            if len(names) < FILTER_BYTES:
                arguments.append(f"--gtest_filter={names}")
            seconds = SECONDS_AT_LEAST + TIMES_SLOWER * sum(map(self.tests.get, batch)) / 1000
            verdict = self.verdict_of(number, arguments, seconds)
            if verdict != "survived":
                return verdict
        return "survived"

    def verdict_of(self, number, arguments, seconds):
        status = self.start({"RINGLET_MUTANT": str(number)}, arguments, seconds)
        return "survived" if status == 0 else "caught" if status is not None else \
            "caught: did not end"


def isolation():
    """Returns a command prefix that gives the tests their own processes, /proc and /dev/shm."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    prepare = ("for at in /proc /dev/shm; do mount --make-private $at 2>/dev/null; done; "
               "mount -t proc proc /proc && mount -t tmpfs tmpfs /dev/shm && ulimit -c 0 && "
               '"$@"; exit $?')
    command = ["unshare", *user, "--mount", "--pid", "--fork", "--kill-child", "--propagation",
               "unchanged", "sh", "-c", prepare, "sh"]
    done = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("namespaces for the tests: " + done.stderr.strip() +
                 "; a fault must not reach other processes, so run where unshare works")
    return command


def equivalents(path=EQUIVALENT):
    """Maps faults to reasons. A line of the file is `file: original => fault # reason`."""
    found = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                key, _, reason = line.rpartition(" # ")
                found[key] = reason
    return found


def summary(layer, seed, results):
    count = {word: sum(r["verdict"].startswith(word) for r in results)
             for word in ("caught", "survived", "not reached", "equivalent")}
    judged = len(results) - count["equivalent"]
    return {"layer": layer, "seed": seed, "drawn": len(results), "caught": count["caught"],
            "survived": count["survived"], "not_reached": count["not reached"],
            "equivalent": count["equivalent"],
            "caught_by_others": sum("by" in r for r in results),
            "score": round(count["caught"] / judged, 3) if judged else None}


def first_caught(others, number):
    for runs in others:
        if runs.verdict(number).startswith("caught"):
            return {"by": runs.program.name}
    return {}


def measure(options, root=ROOT):
    layer = options.layer
    scratch = pathlib.Path(options.scratch or root / "build-mutate" / layer.replace("/", "_"))
    found = places(root, layer, (".cpp",) if options.sources_only else (".cpp", ".hpp"),
                   options.part)
    mutants = Mutants(root, layer, draw(found, options.mutations, options.seed), scratch,
                      options.jobs, options.also)
    say(f"{layer}: {len(found)} places, {len(mutants.drawn)} drawn with seed {options.seed}")
    mutants.prepare()
    mutants.build()
    work = scratch / "work"
    work.mkdir(exist_ok=True)
    own, *others = [Runs(scratch / "build" / "bin" / name, work) for name in mutants.programs]
    for runs in (own, *others):
        runs.baseline()
        say(f"{runs.program.name}: {runs.seconds:.1f} s without a fault")
    known, results = equivalents(), []
    for number, place in mutants.drawn.items():
        if number in mutants.dropped or len(results) == options.mutations:
            continue
        if place.constant and not any(number in runs.reached for runs in (own, *others)):
            continue  # evaluated at compile time, without an active switch
        reason = known.get(place.key())
        result = {"file": place.file, "line": place.line, "kind": place.kind,
                  "original": place.original, "fault": place.mutation,
                  "verdict": "equivalent" if reason else own.verdict(number)}
        results.append(result)
        if reason:
            result["reason"] = reason
        elif result["verdict"] in ("survived", "not reached"):
            result.update(first_caught(others, number))
            say(f"{place.file}:{place.line}: {result['verdict']}: {place.kind}: "
                f"{place.original} => {place.mutation}" +
                (f" (caught by {result['by']})" if "by" in result else ""))
    return {**summary(layer, options.seed, results), "faults": results}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("layer")
    parser.add_argument("--part", default="", metavar="FOLDER",
                        help="faults in this folder of the layer only")
    parser.add_argument("--mutations", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--also", action="append", default=[], metavar="PROGRAM",
                        help="try what the layer's tests miss with these tests, too")
    parser.add_argument("--sources-only", action="store_true",
                        help="no faults in headers: then a compiler cache has most of the tests")
    parser.add_argument("--json", help="write the result to this file")
    parser.add_argument("--scratch", help="the copy of the tree (build-mutate/LAYER)")
    parser.add_argument("--list", action="store_true", help="print the drawn faults and stop")
    options = parser.parse_args(arguments)
    if not (folder_of(ROOT, options.layer) / "CMakeLists.txt").is_file():
        parser.error(f"{options.layer} is no layer: src/core has no such folder, nor has src")
    if options.layer == "pytorch":
        parser.error("pytorch has no test program of its own; test/torch tests it")
    if options.list:
        for place in draw(places(ROOT, options.layer, part=options.part), options.mutations,
                          options.seed):
            say(f"{place.file}:{place.line}: {place.kind}: {place.original} => {place.mutation}")
        return 0
    began = time.monotonic()
    result = measure(options)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    say(f"{options.layer}: {result['caught']} of {result['drawn'] - result['equivalent']} caught, "
        f"{result['survived']} survived, {result['not_reached']} reached by no test, "
        f"{result['equivalent']} change nothing; {time.monotonic() - began:.0f} s")
    if options.also:
        say(f"of those not caught, {result['caught_by_others']} are by {', '.join(options.also)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
