"""Kills a worker of a trainer, and checks that the others end with its name.

    python killed.py PROGRAM OPERATION [--processes 3] [--own-launcher] [ARGUMENT...]

PROGRAM is a file of examples/pytorch. RINGLET_FAULT kills rank 1 when it begins its OPERATION, such
as all_reduce:20. Each other rank must end with an error that names rank 1. With --own-launcher the
program starts its workers itself, and its own error must name rank 1. The times since the kill are
printed: until the name was there, and until the process ended.
"""
import argparse
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "pytorch"
KILLED = 1
NAME = f"rank {KILLED} "


class Worker:
    """A process whose output is read as it comes."""

    def __init__(self, command, variables):
        self.output, self.named_at, self.ended_at = "", None, None
        self.process = subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace")
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.output += line
            if self.named_at is None and NAME in line and "lost" in line:
                self.named_at = time.time()
        self.process.wait()
        self.ended_at = time.time()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def variables_of(rank, size, port):
    return {"RANK": str(rank), "LOCAL_RANK": str(rank), "GROUP_RANK": "0", "WORLD_SIZE": str(size),
            "LOCAL_WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
            "TORCHELASTIC_RUN_ID": "killed"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("operation", help="NAME:NUMBER")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--own-launcher", action="store_true")
    options, words = parser.parse_known_args()
    command = [sys.executable, str(EXAMPLES / options.program), "--backend", "ringlet", *words]
    with tempfile.TemporaryDirectory() as folder:
        killed = pathlib.Path(folder) / "killed"
        fault = {"RINGLET_FAULT": f"{KILLED}@{options.operation}", "RINGLET_FAULT_FILE": str(killed)}
        port = free_port()
        each = [{}] if options.own_launcher else [
            variables_of(rank, options.processes, port) for rank in range(options.processes)]
        workers = [Worker(command, {**fault, **variables}) for variables in each]
        for worker in workers:
            worker.reader.join()
        if not killed.exists():
            raise SystemExit(f"rank {KILLED} was not killed:\n{workers[0].output[-4000:]}")
        began = killed.stat().st_mtime
    failures = []
    for rank, worker in enumerate(workers):
        if rank == KILLED and not options.own_launcher:
            continue
        named = f"{worker.named_at - began:.2f} s" if worker.named_at else "never"
        print(f"rank {rank}: named {named}, ended after {worker.ended_at - began:.2f} s with status "
              f"{worker.process.returncode}")
        if worker.named_at is None or worker.process.returncode == 0:
            failures.append(f"rank {rank} does not report that rank {KILLED} is lost:\n{worker.output[-4000:]}")
    if failures:
        raise SystemExit("\n".join(failures))


if __name__ == "__main__":
    main()
