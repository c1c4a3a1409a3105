"""Measures the delay of a job by ten thousand strangers: python3 strangers_bench.py BUILD
[--strangers N] [--ranks N] [--rounds N] [--manner silent|rubbish|hangup]

A process of its own holds the root. Another one calls it over loopback that many times and sends
nothing, sends garbage, or closes at once. It begins together with the ranks, and makes no more
calls than requested. A time is from the start of the first rank's process until all have joined and
reduced once.

The caller takes a processor too; on a machine of its own it would not. So, with two or more
processors, the caller has the last one and the job has the others, in every round. The kernel's
work for a call over loopback runs on the caller's. Three kinds of rounds take turns: without
strangers; with strangers that call unserved listeners ("elsewhere"), at the cost of calling alone;
and with strangers that call the root. Prints each time, the number of calls before the end of the
job, the processor time of the caller, and the three medians. The goal is at most 20 % more at the
root than without strangers. The difference of the last two is the root's own work for strangers.
"""
import argparse
import multiprocessing
import os
import socket
import statistics
import time

import support

HOLD_SECONDS_MAX = 60
CORES = sorted(os.sched_getaffinity(0))
CALLS_A_LISTENER = 4000  # net.core.somaxconn is 4096; a caller of a full queue waits


def pester(addresses, count, manner, ready, finished, calls, processor_seconds):
    """Calls `count` times, as fast as it can, and holds the connections that it may hold."""
    held = []
    os.sched_setaffinity(0, CORES[-1:])
    ready.wait()
    begun = time.process_time()
    while calls.value < count and not finished.is_set():
        calls.value += 1
        caller = socket.socket()
        try:
            caller.settimeout(1)
            caller.connect(addresses[calls.value // CALLS_A_LISTENER % len(addresses)])
            if manner == "rubbish":
                caller.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + bytes(64))
        except OSError:  # closed already, or the root has ended
            caller.close()
            continue
        if manner == "hangup":
            caller.close()
        else:
            held.append(caller)
    processor_seconds.value = time.process_time() - begun
    finished.wait(HOLD_SECONDS_MAX)


def form(ranks, strangers, manner, elsewhere):
    """Returns the seconds until `ranks` ranks have joined, the number of calls meanwhile, and their
    processor seconds on the caller's side. `elsewhere`: they call unserved listeners."""
    environment = support.clean_environment(RINGLET_DEBUG="NONE", RINGLET_SOCKET_IFNAME="=lo",
                                            RINGLET_SOCKET_FAMILY="AF_INET")
    holder = support.Program(support.FAULT_RANK, "id", environment=environment)
    holder.wait_for("^WAITING")
    text = holder.find("^ID ").split()[1]
    host, port = holder.find("^ADDRESS ").split()[1].rsplit(":", 1)
    listeners = []
    for _ in range(-(-strangers // CALLS_A_LISTENER) if elsewhere else 0):
        listeners.append(socket.create_server(("127.0.0.1", 0), backlog=65535))
    addresses = [listener.getsockname() for listener in listeners] or [(host, int(port))]
    ready, finished = multiprocessing.Event(), multiprocessing.Event()
    calls = multiprocessing.Value("I", 0, lock=False)
    processor_seconds = multiprocessing.Value("d", 0, lock=False)
    pest = multiprocessing.Process(target=pester, daemon=True,
                                   args=(addresses, strangers, manner, ready, finished, calls,
                                         processor_seconds))
    pest.start()
    begun = time.monotonic()
    ready.set()
    programs = [support.Program(support.FAULT_RANK, "join", text, rank, ranks, 1,
                                environment=environment) for rank in range(ranks)]
    for program in programs:
        program.wait_for("^DONE")
    seconds = time.monotonic() - begun
    finished.set()
    pest.join()
    for program in [*programs, holder]:
        program.process.stdin.close()
        program.process.wait(support.TIMEOUT_S)
    for listener in listeners:
        listener.close()
    return seconds, calls.value, processor_seconds.value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strangers", type=int, default=10_000)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--manner", choices=("silent", "rubbish", "hangup"), default="silent")
    words = parser.parse_args()
    rounds = {"none": (0, False), "elsewhere": (words.strangers, True),
              "at the root": (words.strangers, False)}
    os.sched_setaffinity(0, CORES[:-1] or CORES)  # inherited by all processes started here
    times = {where: [] for where in rounds}
    for _ in range(words.rounds):
        for where, (strangers, elsewhere) in rounds.items():
            took, calls, processor_seconds = form(words.ranks, strangers, words.manner, elsewhere)
            times[where].append(took)
            print(f"{words.manner:8} {where:12} {calls:6} calls, {processor_seconds * 1000:7.1f} ms of "
                  f"the caller's processor  {took * 1000:8.1f} ms", flush=True)
    none, away, here = (statistics.median(seconds) * 1000 for seconds in times.values())
    print(f"{words.manner}: median {none:.1f} ms without, {away:.1f} ms with {words.strangers} strangers "
          f"elsewhere ({100 * (away / none - 1):+.0f} %), {here:.1f} ms with them at the root "
          f"({100 * (here / none - 1):+.0f} %): the root's part {100 * (here / away - 1):+.0f} %")


if __name__ == "__main__":
    main()
