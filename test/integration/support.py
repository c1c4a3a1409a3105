"""The shared parts of the integration tests: observed programs, and checks for leftovers.

No test waits for time to pass. Every wait is for a line of output, the end of a process or a
connection. It has a bound only so that a hang becomes a failure.
"""
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import uuid

# Bound for a hang. Generous, because machines are slow and sanitizers slower.
TIMEOUT_S = 60

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path("build")
TOOL = str(BUILD / "bin" / "ringlet")
FAULT_RANK = str(BUILD / "bin" / "fault_rank")

# Part of the environment of all processes that a test starts, so that leftovers are found in /proc.
MARK = "INTEGRATION_TEST_MARK"


def python_with(module):
    """Returns a Python that can import `module`: this one, or the build folder's, or None."""
    for python in (sys.executable, *sorted(map(str, BUILD.glob("*-venv/bin/python")))):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


def clean_environment(**settings):
    """Returns this environment without settings of Ringlet, and with the given ones."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("RINGLET_", "NCCL_"))}
    return {**kept, **settings}


class Program:
    """A process with continuously read output."""

    def __init__(self, *arguments, environment):
        self.name = " ".join(str(a) if len(str(a)) < 60 else "..." for a in arguments[1:])
        self.process = subprocess.Popen([str(a) for a in arguments], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, errors="replace")
        self.lines = []          # of standard output
        self.error_lines = []
        self.changed = threading.Condition()
        self.open_streams = 2
        self.readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, self.lines)),
            threading.Thread(target=self._read, args=(self.process.stderr, self.error_lines))]
        for reader in self.readers:
            reader.start()

    def _read(self, stream, lines):
        for line in stream:
            with self.changed:
                lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.open_streams -= 1
            self.changed.notify_all()

    @property
    def pid(self):
        return self.process.pid

    def find(self, pattern, lines=None):
        lines = self.lines if lines is None else lines
        return next((line for line in lines if re.search(pattern, line)), None)

    def wait_for(self, pattern, where="lines"):
        """Returns the first line that matches `pattern`; fails if the program ends without one."""
        lines = getattr(self, where)
        deadline = time.monotonic() + TIMEOUT_S
        with self.changed:
            while (line := self.find(pattern, lines)) is None:
                if self.open_streams == 0:
                    raise AssertionError(f"[{self.name}] ended without {pattern!r}: {self.text()}")
                if not self.changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"[{self.name}] does not say {pattern!r}: {self.text()}")
        return line

    def text(self):
        return "\n".join(["", *self.lines, *("stderr: " + line for line in self.error_lines)])

    def finish(self):
        """Closes its standard input, waits for its end, returns its exit status."""
        self.process.stdin.close()
        return self.wait()

    def wait(self):
        try:
            status = self.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"[{self.name}] does not end: {self.text()}") from None
        for reader in self.readers:
            reader.join(TIMEOUT_S)
        return status

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """Kills it in any state."""
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(TIMEOUT_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Proxy:
    """A TCP proxy that counts and keeps the traffic. One per recorded member."""

    def __init__(self, target):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.changed = threading.Condition()
        self.sent = b""      # by the member
        self.received = b""  # by the member
        self.sockets = []
        self.threads = [threading.Thread(target=self._serve)]
        self.threads[0].start()

    def _serve(self):
        while True:
            try:
                member, _ = self.listener.accept()
                root = socket.create_connection(self.target)
            except OSError:
                return
            self.sockets += [member, root]
            for pair in ((member, root, "sent"), (root, member, "received")):
                self.threads.append(threading.Thread(target=self._pump, args=pair))
                self.threads[-1].start()

    def _pump(self, source, sink, name):
        try:
            while data := source.recv(65536):
                with self.changed:  # keep it before forwarding, because the answer may be quick
                    setattr(self, name, getattr(self, name) + data)
                    self.changed.notify_all()
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def wait_for_welcome(self):
        """Waits until the root has answered a check-in: a challenge of 72 bytes, then a frame."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.received) > 72 + 5, TIMEOUT_S):
                raise AssertionError("the root does not answer the check-in")

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for one in self.sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join(TIMEOUT_S)
        for one in self.sockets:
            one.close()


def await_end(pid):
    """Waits for the end of a process that need not be a child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], TIMEOUT_S)[0])
    finally:
        os.close(descriptor)


def shared_memory():
    """Returns Ringlet's files in /dev/shm. Folders belong to a benchmark beside the tests."""
    folder = pathlib.Path("/dev/shm")
    return {entry.name for entry in folder.iterdir() if "ringlet" in entry.name and entry.is_file()} \
        if folder.exists() else set()


def maps_memory(pid):
    """Returns true if the process has memory of a link in its address space."""
    return "/memfd:ringlet" in pathlib.Path(f"/proc/{pid}/maps").read_text()


def listening_ports(pid):
    """Returns the TCP ports on which a process listens, IPv4."""
    inodes = set()
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link))
        except OSError:
            continue
        if match:
            inodes.add(match[1])
    ports = set()
    for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and fields[9] in inodes:
            ports.add((socket.inet_ntoa(bytes.fromhex(fields[1][:8])[::-1]),
                       int(fields[1].split(":")[1], 16)))
    return sorted(ports)


class Case(unittest.TestCase):
    """Starts programs, and fails if they leave processes or files behind."""

    def setUp(self):
        self.mark = uuid.uuid4().hex
        self.memory_before = shared_memory()
        self.addCleanup(self.check_nothing_is_left)

    def environment(self, **settings):
        return clean_environment(**{MARK: self.mark}, **settings)

    def start(self, *arguments, **settings):
        program = Program(*arguments, environment=self.environment(**settings))
        self.addCleanup(program.kill)
        return program

    def run_to_end(self, *arguments, **settings):
        program = self.start(*arguments, **settings)
        program.status = program.finish()
        return program

    def marked(self):
        """Returns the processes that this test has started, directly or not: pid -> environment."""
        found = {}
        for folder in pathlib.Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                words = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            variables = dict(word.decode(errors="replace").split("=", 1)
                             for word in words if b"=" in word)
            if variables.get(MARK) == self.mark:
                found[int(folder.name)] = variables
        return found

    def check_nothing_is_left(self):
        left = [pid for pid in self.marked() if not await_end(pid)]
        for pid in left:  # protects the next test
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, [], "processes were left behind")
        self.assertEqual(shared_memory() - self.memory_before, set())


# Exit status for ctest if no test could run.
SKIPPED = 77


def main():
    """Runs the tests. Reports skipped ones to test/run/skipped.py, or, if all, to ctest."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    result = unittest.main(verbosity=2, exit=False).result
    skipped = [(test.id().replace("__main__", pathlib.Path(sys.argv[0]).stem), why)
               for test, why in result.skipped]
    if skipped and (reports := os.environ.get("TEST_REPORTS")):
        (pathlib.Path(reports) / f"{uuid.uuid4().hex}.json").write_text(json.dumps(skipped))
    for name, why in skipped:
        print(f"NOT RUN {name}: {why}")
    all_skipped = result.testsRun > 0 and len(skipped) == result.testsRun
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if all_skipped else 0)
