"""Runs random programs over torch.distributed on Ringlet, and on Gloo as a second opinion, against
a reference.

    python oracle.py [--operations N] [--seed N] [--layout fork|same|exec] [--backends ringlet,gloo]
    python oracle.py --replay 'PROGRAM'

Layouts: ranks forked from one process; the same without randomised addresses, so all ranks have
equal ones; ranks that are programs of their own. ORACLE_SLOW=4 gives them four times as long, on a
busy machine. The oracle shortens a failing program as long as it fails, and prints it with the line
that replays it. Exit status 1: one failed.
"""
import argparse
import ctypes
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from datetime import timedelta

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import known_gloo  # noqa: E402
import programs  # noqa: E402

OPERATIONS_PER_PROGRAM = 25
# Factor for the time of ranks; in the environment, because ranks may be programs of their own.
SLOW = int(os.environ.setdefault("ORACLE_SLOW", "1"))
GROUP_TIMEOUT = timedelta(seconds=25 * SLOW)
PROGRAM_TIMEOUT_S = 60 * SLOW
SHRINK_S = 240
ADDR_NO_RANDOMIZE = 0x0040000


def run_rank(program, backends, rank, folder):
    """Returns the complaint of one rank; empty: none."""
    import torch
    import torch.distributed as dist

    import ringlet  # noqa: F401
    from actions import Rank

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for backend in backends:
        mine = known_gloo.fit_for_gloo(program) if backend == "gloo" else program
        try:
            dist.init_process_group(
                backend, init_method=f"file://{folder}/{backend}", rank=rank, timeout=GROUP_TIMEOUT,
                world_size=program["size"])
            Rank(mine, rank, backend).run()
            dist.destroy_process_group()
        except BaseException:
            return f"{backend}: " + traceback.format_exc(limit=-3, chain=False)
    return ""


def forked_rank(program, backends, rank, folder, pipe):
    try:
        wrong = run_rank(program, backends, rank, folder)
    except BaseException:
        wrong = traceback.format_exc()
    pipe.send(wrong)
    pipe.close()
    # Skips the end of Python, because a failed rank may have threads that wait for others.
    os._exit(1 if wrong else 0)


def run_forked(program, backends):
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(program["size"]):
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=forked_rank, args=(program, backends, rank, folder, theirs))
            child.start()
            theirs.close()
            children.append((child, ours))
        deadline, failures = time.monotonic() + PROGRAM_TIMEOUT_S, []
        for rank, (child, pipe) in enumerate(children):
            try:
                ready = pipe.poll(max(0, deadline - time.monotonic()))
                wrong = pipe.recv() if ready else f"it hangs: no answer after {PROGRAM_TIMEOUT_S} s"
            except EOFError:
                child.join()
                wrong = f"it died, exit code {child.exitcode}"
            if wrong:
                failures.append(f"rank {rank}: {wrong}")
        for child, _ in children:
            child.join(5)
            if child.is_alive():
                failures.append("a rank does not end")
                child.kill()
                child.join()
        return "\n".join(failures)


def run_executed(programs_, backends):
    """Runs several programs in the same processes, because PyTorch takes seconds to import."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/programs", "w") as file:
            json.dump([programs_, backends], file)
        ranks = [subprocess.Popen([sys.executable, os.path.abspath(__file__), "--rank", str(rank), folder],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                 for rank in range(max(program["size"] for program in programs_))]
        deadline, failures = time.monotonic() + PROGRAM_TIMEOUT_S * (1 + len(programs_)), []
        for rank, child in enumerate(ranks):
            try:
                said = child.communicate(timeout=max(1, deadline - time.monotonic()))[0]
            except subprocess.TimeoutExpired:
                child.kill()
                said = child.communicate()[0] + f"\nit hangs: no end after {PROGRAM_TIMEOUT_S} s"
            if child.returncode != 0:
                failures.append(f"rank {rank}, exit code {child.returncode}: {said[-3000:]}")
        return "\n".join(failures)


def executed_rank(rank, folder):
    with open(folder + "/programs") as file:
        programs_, backends = json.load(file)
    load_once()
    for number, program in enumerate(programs_):
        if rank >= program["size"]:
            continue
        inner = f"{folder}/{number}"
        os.makedirs(inner, exist_ok=True)
        wrong = run_rank(program, backends, rank, inner)
        if wrong:
            print(f"program {number} of seed {program['seed']}: {wrong}", flush=True)
            os._exit(1)
    os._exit(0)


def shrunk(program, fails, until):
    """Returns the smallest program found in time that fails in the same way."""
    def tried(candidate):
        return time.monotonic() < until and candidate["ops"] and fails(candidate)

    chunk = max(1, len(program["ops"]) // 2)
    while chunk >= 1:
        begin = 0
        while begin < len(program["ops"]):
            ops = program["ops"][:begin] + program["ops"][begin + chunk:]
            if tried(program | {"ops": ops}):
                program = program | {"ops": ops}
            else:
                begin += chunk
        chunk //= 2
    again = True
    while again:
        again = False
        for rank in reversed(range(program["size"])):
            if program["size"] > 1 and tried(programs.without_rank(program, rank)):
                program, again = programs.without_rank(program, rank), True
        for index, op in enumerate(program["ops"]):
            for simpler in programs.smaller(op):
                ops = program["ops"][:index] + [simpler] + program["ops"][index + 1:]
                if tried(program | {"ops": ops}):
                    program, again = program | {"ops": ops}, True
                    break
    return program


def report(program, failure, backends):
    print(f"FAILED: seed {program['seed']}\n{failure}\n", flush=True)
    # With the backend that failed alone, if that is enough.
    for alone in backends:
        if len(backends) > 1 and run_forked(program, [alone]):
            backends = [alone]
            break
    small = shrunk(program, lambda candidate: run_forked(candidate, backends), time.monotonic() + SHRINK_S)
    print(f"Cut down:\n{run_forked(small, backends) or 'it does not fail each time'}\n")
    print(f"python {sys.argv[0]} --backends {','.join(backends)} --replay '{json.dumps(small)}'", flush=True)


def with_same_addresses():
    """Restarts without randomised addresses."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.environ.get("ORACLE_SAME_ADDRESSES"):
        return
    now = libc.personality(0xffffffff)
    if now < 0 or libc.personality(now | ADDR_NO_RANDOMIZE) < 0:
        sys.exit("The system does not let address randomisation be turned off (personality).")
    os.environ["ORACLE_SAME_ADDRESSES"] = "1"
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *sys.argv])


def load_once():
    """Runs first: PyTorch loads 800 modules at the first functional collective, 1 s per rank."""
    import numpy.random  # noqa: F401
    import torch._dynamo  # noqa: F401
    import torch.distributed._functional_collectives  # noqa: F401

    import actions  # noqa: F401
    import ringlet

    ringlet.ops  # loads the extension


def check(seed, operations, layout, backends):
    """Returns the number of failures."""
    all_programs = [programs.draw(seed + number, OPERATIONS_PER_PROGRAM)
                    for number in range(max(1, operations // OPERATIONS_PER_PROGRAM))]
    print(f"{layout}: {len(all_programs)} programs of {OPERATIONS_PER_PROGRAM} operations, seeds {seed} "
          f"to {seed + len(all_programs) - 1}, on {', '.join(backends)}", flush=True)
    if layout == "exec":
        failure = run_executed(all_programs, backends)
        if failure:
            print("FAILED:", failure)
        return 1 if failure else 0
    load_once()
    failed = 0
    for program in all_programs:
        failure = run_forked(program, backends)
        if failure:
            failed += 1
            report(program, failure, backends)
            if failed == 3:
                print("Three are enough.")
                break
    return failed


def main():
    if sys.argv[1:2] == ["--rank"]:
        return executed_rank(int(sys.argv[2]), sys.argv[3])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operations", type=int, default=400, help="of each layout")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--layout", default="fork", choices=["fork", "same", "exec"])
    parser.add_argument("--backends", default="ringlet,gloo")
    parser.add_argument("--replay")
    given = parser.parse_args()
    if "--seed" not in " ".join(sys.argv):
        sys.argv += ["--seed", str(given.seed)]
    backends = given.backends.split(",")
    if given.layout == "same":
        with_same_addresses()
    if given.replay:
        failure = run_forked(json.loads(given.replay), backends)
        print(failure or "It does not fail.")
        sys.exit(1 if failure else 0)
    begin = time.monotonic()
    failed = check(given.seed, given.operations, given.layout, backends)
    print(f"{failed} failed, in {time.monotonic() - begin:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
