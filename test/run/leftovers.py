#!/usr/bin/env python3
"""Fails if tests have left processes, temporary files or shared memory behind, and removes them.

    leftovers.py     run by ctest after all other tests; see cmake/RingletTestRun.cmake
"""
import os
import pathlib
import select
import shutil
import signal
import sys
import time

TIMEOUT_S = 20  # for a process that is just ending


def started(pid):
    """Returns the start time of a process, in seconds since the epoch."""
    ticks = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    uptime = float(pathlib.Path("/proc/uptime").read_text().split()[0])
    return time.time() - uptime + ticks / os.sysconf("SC_CLK_TCK")


def ancestors():
    pid, found = os.getpid(), set()
    while pid > 0:
        found.add(pid)
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return found


def await_end(pid):
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], TIMEOUT_S)[0])
    finally:
        os.close(descriptor)


def processes(mark):
    """Returns processes with `mark` in their environment that remain after a while."""
    kin = ancestors()
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) in kin:
            continue
        try:
            marked = mark in (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if marked and not await_end(int(folder.name)):
            yield int(folder.name), words.strip()


def shared_memory(since):
    folder = pathlib.Path("/dev/shm")
    for entry in folder.iterdir() if folder.exists() else ():
        try:
            facts = entry.lstat()
        except OSError:
            continue
        ours = entry.name.startswith(("ringlet", "fuzz_"))
        if ours and facts.st_uid == os.getuid() and facts.st_mtime >= since:
            yield entry


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def main():
    reports, temporary = os.environ.get("TEST_REPORTS"), pathlib.Path(os.environ.get("TMPDIR", ""))
    if not reports or not temporary.name.startswith("ringlet_test_"):
        sys.exit("TEST_REPORTS or TMPDIR is not what ctest sets: run this by ctest")
    left = []
    for pid, words in processes(f"TEST_REPORTS={reports}".encode()):
        left.append(f"process {pid}: {words}")
        os.kill(pid, signal.SIGKILL)
    for path in [*temporary.iterdir(), *shared_memory(started(os.getppid()))]:
        left.append(f"file {path}")
        remove(path)
    for one in left:
        print("LEFT BEHIND", one)
    sys.exit(1 if left else 0)


main()
