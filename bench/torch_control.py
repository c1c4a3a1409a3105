"""Measures the control plane of a job on Ringlet and on Gloo in turn: objects, groups, barriers,
checkpoints, and the death of a rank.

    python bench/torch_control.py [--processes 2,8,32] [--runs 5] [--only gather,barrier]
    python bench/torch_control.py --json bench/results/DATE-MACHINE-pytorch-control.json

All processes are forks of one with torch loaded. The ranks begin an action together; its time is
from the first begin to the last end on any rank. The table shows medians of the runs. A run is a
job of its own, and the backends take turns. Descriptors, threads and memory (PSS) are those of
rank 0 and of the rank with most of them, after the groups exist. Without --json it prints the same
table.
"""

import multiprocessing
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
import warnings
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint

import ringlet
import torch_results

ringlet.ops  # loads the extension before the forks, like Gloo

BACKENDS = ("ringlet", "gloo")
KIB, MIB = 1 << 10, 1 << 20
GROUPS, GROUPS_OF_MANY, MANY = 200, 20, 8  # Gloo needs minutes for 200 groups of 32 ranks
TENSOR_BYTES = 16 * MIB  # of a checkpoint, per rank
LARGEST_GATHER = 64 * MIB  # an all-gather of objects holds this in each rank, at most


def gather(payload):
    size = dist.get_world_size()
    wanted = [None] * size if dist.get_rank() == 0 else None
    dist.gather_object(payload, wanted)
    assert wanted is None or [len(each) for each in wanted] == [len(payload)] * size


def all_gather(payload):
    wanted = [None] * dist.get_world_size()
    dist.all_gather_object(wanted, payload)
    assert len(wanted[-1]) == len(payload)


def broadcast(payload):
    objects = [payload if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(objects)
    assert len(objects[0]) == len(payload)


def scatter(payload):
    objects = [payload] * dist.get_world_size() if dist.get_rank() == 0 else None
    mine = [None]
    dist.scatter_object_list(mine, objects)
    assert len(mine[0]) == len(payload)


def monitored_barrier():
    if dist.get_backend() == "gloo":
        dist.monitored_barrier()
    else:
        ringlet.monitored_barrier()


def form_groups(count):
    return [dist.new_group() for _ in range(count)]


def form_pairs():
    """Forms the groups of tensor parallelism by two: each rank is in one of them."""
    for first in range(0, dist.get_world_size(), 2):
        dist.new_group([first, first + 1])


def save(folder):
    state = {f"rank {dist.get_rank()}": torch.ones(TENSOR_BYTES // 4)}
    checkpoint.save(state, checkpoint_id=folder)


def load(folder):
    state = {f"rank {dist.get_rank()}": torch.zeros(TENSOR_BYTES // 4)}
    checkpoint.load(state, checkpoint_id=folder)
    assert state[f"rank {dist.get_rank()}"][-1] == 1


class Ranks:
    """What the ranks of a job share: the moments of each action, by rank."""

    def __init__(self, context, size):
        self.size = size
        self.barrier = context.Barrier(size)
        self.begins, self.ends = context.Array("d", size), context.Array("d", size)

    def time(self, rank, action, calls=1):
        """Returns seconds per call from the first begin to the last end; the same on each rank."""
        self.barrier.wait()
        self.begins[rank] = time.perf_counter()
        for _ in range(calls):
            action()
        self.ends[rank] = time.perf_counter()
        self.barrier.wait()
        return (max(self.ends) - min(self.begins)) / calls


def use_of_process():
    """Returns descriptors, threads and MiB of this process."""
    with open("/proc/self/smaps_rollup") as file:
        pss = next(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), pss / 1024


def actions_of(size, folder):
    """Yields a row's name, its action and its calls, in the order of the job."""
    kept = []
    yield "barrier", dist.barrier, 20
    yield "monitored_barrier", monitored_barrier, 5
    yield "form a group", lambda: kept.append(dist.new_group()), 1
    # Gloo connects in new_group, and Ringlet at the first operation.
    yield "form a group, with a barrier", lambda: dist.barrier(group=dist.new_group()), 1
    yield "form groups of two", form_pairs, 1
    for bytes_, name in ((64, "64 B"), (256 * KIB, "256 KiB"), (MIB, "1 MiB")):
        payload = bytes(bytes_)
        yield f"gather_object, {name}", lambda payload=payload: gather(payload), 3
        if bytes_ * size <= LARGEST_GATHER:
            yield f"all_gather_object, {name}", lambda payload=payload: all_gather(payload), 3
        yield f"scatter_object_list, {name}", lambda payload=payload: scatter(payload), 3
    for bytes_, name in ((64, "64 B"), (16 * MIB, "16 MiB"), (64 * MIB, "64 MiB")):
        if bytes_ * size <= 1024 * MIB:
            payload = bytes(bytes_)
            yield f"broadcast_object_list, {name}", lambda payload=payload: broadcast(payload), 2
    yield "checkpoint, save", lambda: save(folder), 1
    yield "checkpoint, load", lambda: load(folder), 1
    count = GROUPS if size <= MANY else GROUPS_OF_MANY
    yield f"form {count} groups", lambda: kept.extend(form_groups(count)), 1


def die(ranks, rank):
    """Kills the last rank; returns the seconds until this rank was told, and the message."""
    one = torch.ones(1)
    for _ in range(3):
        dist.all_reduce(one)
    ranks.barrier.wait()
    if rank == ranks.size - 1:
        ranks.begins[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        while True:
            dist.all_reduce(one)
    except RuntimeError as error:
        return time.perf_counter() - ranks.begins[0], str(error)


def member(backend, rank, ranks, store_of, folder, only, results):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    store = store_of()

    def init():
        dist.init_process_group(backend, store=store, rank=rank, world_size=ranks.size, timeout=timedelta(seconds=60))
        dist.barrier()

    rows = {"init and first barrier": ranks.time(rank, init)}
    for name, action, calls in actions_of(ranks.size, folder):
        if not only or any(word in name for word in only):
            rows[name] = ranks.time(rank, action, calls)
    used = use_of_process()
    told = die(ranks, rank) if not only or "death" in only else None
    results.put((rank, rows, used, told))
    results.close()
    results.join_thread()
    os._exit(0)  # the group has a dead rank


def run(backend, size, only):
    """Runs a job. Returns milliseconds by row, the use of the ranks and what they were told."""
    context = multiprocessing.get_context("fork")
    port, served = context.Value("i", 0), context.Event()
    ranks, results = Ranks(context, size), context.Queue()
    folder = tempfile.mkdtemp()

    def store_of():
        served.wait()
        return dist.TCPStore("127.0.0.1", port.value, wait_for_workers=False)

    members = [context.Process(target=member, args=(backend, rank, ranks, store_of, folder, only, results))
               for rank in range(size)]
    for process in members:
        process.start()
    # Start it after the forks, because its thread could hold a C library lock in them.
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    port.value = server.port
    served.set()
    dies = not only or "death" in only
    answers = [results.get(timeout=120) for _ in range(size - 1 if dies else size)]
    for process in members:
        process.join()
    shutil.rmtree(folder)
    rows = {name: seconds * 1e3 for name, seconds in answers[0][1].items()}
    uses = [used for _, _, used, _ in answers]
    first = next(used for rank, _, used, _ in answers if rank == 0)
    for i, name in enumerate(("descriptors", "threads", "memory, MiB")):
        rows[f"{name}, rank 0"] = first[i]
        rows[f"{name}, most"] = max(used[i] for used in uses)
    if dies:
        rows["death, last rank told"] = max(told[0] for *_, told in answers) * 1e3
        named = sum(f"rank {size - 1}" in told[1] for *_, told in answers)
        rows["death, ranks told its name"] = named
    return rows


def main():
    parser = torch_results.parser_of(__doc__, "2,8,32", 5)
    parser.add_argument("--only", default="", help="list of words in names of rows")
    options = parser.parse_args()
    only = [word for word in options.only.split(",") if word]
    columns = ["action", "processes", "Ringlet", "Gloo", "Gloo / Ringlet"]
    rows = []
    for size in map(int, options.processes.split(",")):
        runs = {backend: [] for backend in BACKENDS}
        for _ in range(options.runs):
            for backend, list_ in runs.items():
                list_.append(run(backend, size, only))
        for name in runs["ringlet"][0]:
            ours, theirs = (statistics.median(each[name] for each in runs[backend]) for backend in BACKENDS)
            rows.append([name, size, round(ours, 2), round(theirs, 2), round(theirs / ours, 2) if ours else ""])
            print(f"{name:34}" + "".join(f"{cell:>12}" for cell in rows[-1][1:]), flush=True)
    torch_results.write(
        options,
        what="PyTorch: the control plane of a job",
        order=34,
        command="python bench/torch_control.py " + " ".join(sys.argv[1:]),
        note=[f"Milliseconds, unless the row names another unit; medians of {options.runs} runs."],
        tables=[{"title": "Objects, groups, barriers, checkpoints, and a death", "columns": columns, "rows": rows}])


if __name__ == "__main__":
    main()
