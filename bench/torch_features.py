"""Lists the features of torch.distributed and of trainers that run on Ringlet and on Gloo.

    python bench/torch_features.py [--python PYTHON]... [--trainers PYTHON]... [--only NAME] [--without KIND]...
    python bench/torch_features.py --json bench/results/DATE-MACHINE-pytorch-features.json

Each cell is a program that ran. Two ranks run a feature and check the result. A trainer is a
program of examples/pytorch, with the time of an iteration or a token. A test is a program of
test/torch. PYTHON is the interpreter of an environment with torch and ringlet. Trainers that need
other package versions may have an environment of their own, of the same version of torch: each
trainer runs in the first environment with its package. "no" means that the program failed there,
and the last column has the error. "-" means that the feature does not exist there: its package is
missing in each environment, PyTorch of that version has it for no backend, or it is Ringlet's own.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import torch_results

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples" / "pytorch"
TESTS = ("ours", "contract", "operators", "hooks", "debugging", "trainers")
BACKENDS = ("gloo", "ringlet")
TIMEOUT_S = 300
TESTS_TIMEOUT_S = 1500
RANK_TIMEOUT_S = 30
AT_A_TIME = 4  # features
MISSING = 77  # exit status of a rank if PyTorch lacks the feature
REASON_MAX = 100  # characters
# Trainer: program, package, true if it starts its processes itself.
TRAINERS = {
    "DDP": ("ddp.py", "torch", False),
    "tensor parallel, own layers": ("tensor_parallel.py", "torch", False),
    "accelerate": ("accelerated.py", "accelerate", False),
    "transformers, Trainer": ("trainer.py", "transformers", False),
    "transformers, tp_plan": ("transformers_tp.py", "transformers", False),
    "Lightning": ("lightning_ddp.py", "lightning", False),
    "DeepSpeed, ZeRO 2": ("deepspeed_zero.py", "deepspeed", False),
    "Ray Train": ("ray_train.py", "ray", True),
    "Ray collectives": ("ray_collective.py", "ray", True),
    "torchft": ("torchft_ddp.py", "torchft", True),
    "torchtitan, meshes and FSDP2": ("torchtitan_fsdp.py", "torchtitan", False),
    "vLLM": ("vllm_tp.py", "vllm", False),
}


def expect(got, wanted):
    if got != wanted:
        raise SystemExit(f"{got} in place of {wanted}")


def of_types(kind):
    def feature(torch, dist, rank):
        tensor = torch.ones(3, dtype=getattr(torch, kind))
        dist.all_reduce(tensor)
        expect(tensor.float().tolist(), [2.0] * 3)

    return feature


def of_reduction(name, wanted):
    def feature(torch, dist, rank):
        tensor = torch.full((3,), float(rank + 1)) if name != "BXOR" else torch.full((3,), rank + 1)
        dist.all_reduce(tensor, getattr(dist.ReduceOp, name))
        expect(tensor.tolist(), [wanted] * 3)

    return feature


def reduce_scatter(torch, dist, rank):
    out = torch.zeros(2)
    dist.reduce_scatter_tensor(out, torch.arange(4.0))
    expect(out.tolist(), [4.0 * rank, 4.0 * rank + 2])


def all_to_all(torch, dist, rank):
    out = torch.zeros(3)
    dist.all_to_all_single(out, torch.full((3,), float(rank)), [2 - rank, 1 + rank] if rank == 0 else [1, 2],
                           [2, 1] if rank == 0 else [1, 2])
    expect(sorted(set(out.tolist())), [0.0, 1.0])


def all_to_all_list(torch, dist, rank):
    out = [torch.zeros(1), torch.zeros(1)]
    dist.all_to_all(out, [torch.tensor([float(rank)])] * 2)
    expect([each.item() for each in out], [0.0, 1.0])


def coalesced(torch, dist, rank):
    tensors = [torch.ones(2) for _ in range(5)]
    with dist._coalescing_manager(async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor)
    manager.wait()
    expect({each.item() for tensor in tensors for each in tensor}, {2.0})


def functional(torch, dist, rank):
    import torch.distributed._functional_collectives as functions

    expect(functions.all_reduce(torch.ones(2), "sum", dist.group.WORLD).tolist(), [2.0, 2.0])


def compiled(torch, dist, rank):
    import torch.distributed._functional_collectives as functions

    double = torch.compile(lambda x: functions.all_reduce(x * 2, "sum", dist.group.WORLD) + 1)
    expect(double(torch.ones(2)).tolist(), [5.0, 5.0])


def with_gaps(torch, dist, rank):
    whole = torch.ones(4, 4)
    dist.all_reduce(whole[:, 1])
    expect(whole[0].tolist(), [1.0, 2.0, 1.0, 1.0])


def sends(torch, dist, rank):
    tensor = torch.full((2,), float(rank))
    calls = [dist.P2POp(dist.isend, tensor, 1 - rank), dist.P2POp(dist.irecv, got := torch.zeros(2), 1 - rank)]
    for work in dist.batch_isend_irecv(calls):
        work.wait()
    expect(got.tolist(), [1.0 - rank] * 2)


def anyone(torch, dist, rank):
    got = torch.zeros(1)
    if rank == 0:
        expect(dist.recv(got), 1)
    else:
        dist.send(torch.ones(1), 0)


def mismatch(torch, dist, rank):
    """Checks that calls of different sizes fail on each rank, without a death or wrong numbers."""
    try:
        dist.all_reduce(torch.ones(3 + 2 * rank))
    except RuntimeError:
        return
    raise SystemExit("no error")


def wrong_type(torch, dist, rank):
    """Checks the same for different types."""
    try:
        dist.all_reduce(torch.ones(4, dtype=torch.int32 if rank else torch.float32))
    except RuntimeError:
        return
    raise SystemExit("no error")


def detail(torch, dist, rank):
    from torch.nn.parallel import DistributedDataParallel

    dist.set_debug_level(dist.DebugLevel.DETAIL)
    model = DistributedDataParallel(torch.nn.Linear(2, 1), process_group=dist.new_group())
    model(torch.ones(1, 2)).sum().backward()


def monitored(torch, dist, rank):
    dist.monitored_barrier()


def monitored_ours(torch, dist, rank):
    import ringlet

    ringlet.monitored_barrier()


def split(torch, dist, rank):
    group = dist.split_group(split_ranks=[[0, 1]])
    tensor = torch.ones(1)
    dist.all_reduce(tensor, group=group)
    expect(tensor.item(), 2.0)


def objects(torch, dist, rank):
    found = [None, None]
    dist.all_gather_object(found, {"rank": rank})
    expect(found, [{"rank": 0}, {"rank": 1}])


def mesh(torch, dist, rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    tensor = distribute_tensor(torch.arange(4.0), init_device_mesh("cpu", (2,)), [Shard(0)])
    expect(tensor.redistribute(placements=[Replicate()]).to_local().tolist(), [0.0, 1.0, 2.0, 3.0])


def checkpoint(torch, dist, rank):
    import torch.distributed.checkpoint as saved

    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder)
    saved.save({"x": torch.ones(3)}, checkpoint_id=folder[0])
    state = {"x": torch.zeros(3)}
    saved.load(state, checkpoint_id=folder[0])
    expect(state["x"].tolist(), [1.0] * 3)


def needs(there, what):
    if not there:
        print(f"PyTorch has no {what}", file=sys.stderr)
        os._exit(MISSING)


def fsdp2(torch, dist, rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(1)
    model = torch.nn.Linear(4, 4)
    fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
    model(torch.full((1, 4), rank + 1.0)).sum().backward()
    expect(model.bias.grad.full_tensor().tolist(), [1.0] * 4)


def zero_optimizer(torch, dist, rank):
    from torch.distributed.optim import ZeroRedundancyOptimizer

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.5)
    before = [each.clone() for each in model.parameters()]
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    for old, new in zip(before, model.parameters()):
        expect(torch.allclose(new, old - 0.5 * new.grad), True)


def pipeline(torch, dist, rank):
    from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

    stage = PipelineStage(torch.nn.Identity() if rank else torch.nn.ReLU(), rank, 2, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, n_microbatches=2)
    got = schedule.step(*([] if rank else [torch.tensor([[-1.0], [2.0]])]))
    expect(got.tolist() if rank else None, [[0.0], [2.0]] if rank else None)


def gather_single(torch, dist, rank):
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    gather = getattr(backend, "gather_single", None)
    needs(gather, "gather into one tensor")
    got = torch.zeros(4) if rank == 0 else torch.zeros(0)
    gather(got, torch.full((2,), float(rank)), dist.GatherOptions()).wait()
    expect(got.tolist(), [0.0, 0.0, 1.0, 1.0] if rank == 0 else [])


def members(torch, dist, rank):
    from datetime import timedelta

    c10d = dist.distributed_c10d
    needs(hasattr(c10d, "_reconfigure"), "members that change")
    store = c10d._get_default_store()
    store.set(f"handle {rank}", c10d._get_reconfigure_handle())
    handles = [store.get(f"handle {each}").decode() for each in (1, 0)]
    c10d._reconfigure(1, handles, timeout=timedelta(seconds=RANK_TIMEOUT_S)).wait()
    expect(dist.get_rank(), 1 - rank)
    tensor = torch.ones(2)
    dist.all_reduce(tensor)
    expect(tensor.tolist(), [2.0] * 2)


def window(torch, dist, rank):
    c10d = dist.distributed_c10d
    needs(hasattr(c10d, "_new_window"), "windows")
    tensor = torch.zeros(4)
    opened = c10d._new_window(tensor)
    opened.put(torch.full((2,), 1.0 + rank), 1 - rank, 2 * rank, False)
    opened.signal(1 - rank, False)
    opened.wait_signal(1 - rank, False)
    expect(tensor[2 * (1 - rank):][:2].tolist(), [2.0 - rank] * 2)
    dist.barrier()


def symmetric(torch, dist, rank):
    import torch.distributed._symmetric_memory as memory

    tensor = memory.empty(4, device="cpu").fill_(rank)
    handle = memory.rendezvous(tensor, dist.group.WORLD)
    handle.barrier()
    expect(handle.get_buffer(1 - rank, (4,), torch.float32).tolist(), [1.0 - rank] * 4)
    handle.barrier()


def recorder(torch, dist, rank):
    import pickle

    c10d = dist.distributed_c10d
    needs(hasattr(c10d, "FlightRecorderHook"), "flight recorder for backends of others")
    from torch._C._distributed_c10d import _dump_fr_trace

    dist.all_reduce(torch.ones(4))
    entries = pickle.loads(_dump_fr_trace(True, False, False, backend=dist.get_backend()))["entries"]
    expect([each["state"] for each in entries], ["completed"])


def memory_stats(torch, dist, rank):
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    needs(hasattr(type(backend), "memory_stats"), "memory of a group")
    dist.all_reduce(torch.ones(4))
    found = backend.memory_stats
    expect(bool(found() if callable(found) else found), True)


def added_time(torch, dist, rank):
    from datetime import timedelta

    needs(hasattr(dist.ProcessGroup, "_add_ephemeral_timeout"), "time that is added once")
    dist.all_reduce(torch.ones(1))
    dist.group.WORLD.set_timeout(timedelta(milliseconds=200))
    dist.group.WORLD._add_ephemeral_timeout(timedelta(seconds=RANK_TIMEOUT_S))
    if rank == 1:
        try:
            dist.distributed_c10d._get_default_store().wait(["never set"], timedelta(milliseconds=600))
        except RuntimeError:
            pass
    dist.all_reduce(torch.ones(1))


def error_of_a_mismatch(torch, dist, rank):
    try:
        if rank == 0:
            dist.all_reduce(torch.ones(3))
        else:
            dist.broadcast(torch.ones(3), 0)
    except RuntimeError as error:
        return str(error)
    raise SystemExit("no error")


def names_calls(torch, dist, rank):
    said = error_of_a_mismatch(torch, dist, rank)
    expect("all_reduce" in said and "broadcast" in said, True)


def names_lines(torch, dist, rank):
    said = error_of_a_mismatch(torch, dist, rank)
    expect(all(f"rank {each}: {__file__}:" in said for each in (0, 1)), True)


def our_operators(torch, dist, rank):
    import ringlet

    tensor = torch.ones(2)
    ringlet.ops.all_reduce_(tensor, dist.group.WORLD.group_name)
    expect(tensor.tolist(), [2.0] * 2)


def our_operators_in_detail(torch, dist, rank):
    import ringlet

    dist.set_debug_level(dist.DebugLevel.DETAIL)
    tensor = torch.ones(2)
    ringlet.ops.all_reduce_(tensor, dist.new_group().group_name)
    expect(tensor.tolist(), [2.0] * 2)


FEATURES = {
    **{f"all-reduce of {kind}": of_types(kind) for kind in (
        "float32", "float64", "float16", "bfloat16", "int8", "uint8", "int64", "complex64", "float8_e4m3fn")},
    "all-reduce, product": of_reduction("PRODUCT", 2.0),
    "all-reduce, average": of_reduction("AVG", 1.5),
    "all-reduce, bits": of_reduction("BXOR", 3),
    "all-reduce of a view with gaps": with_gaps,
    "reduce-scatter of one tensor": reduce_scatter,
    "all-to-all with splits": all_to_all,
    "all-to-all of lists": all_to_all_list,
    "coalesced all-reduces": coalesced,
    "batched messages": sends,
    "receive from any rank": anyone,
    "objects": objects,
    "functional collectives": functional,
    "functional collectives, compiled": compiled,
    "split_group": split,
    "DTensor": mesh,
    "FSDP2": fsdp2,
    "ZeroRedundancyOptimizer": zero_optimizer,
    "pipelining": pipeline,
    "gather into one tensor": gather_single,
    "members that change": members,
    "windows": window,
    "symmetric memory": symmetric,
    "PyTorch's flight recorder": recorder,
    "memory of a group": memory_stats,
    "time that is added once": added_time,
    "distributed checkpoint": checkpoint,
    "dist.monitored_barrier": monitored,
    "ringlet.monitored_barrier": monitored_ours,
    "DDP with TORCH_DISTRIBUTED_DEBUG=DETAIL": detail,
    "sizes that differ are an error": mismatch,
    "types that differ are an error": wrong_type,
    "operations that differ are an error with both": names_calls,
    "the error names the Python line of each rank": names_lines,
    "torch.ops.ringlet": our_operators,
    "torch.ops.ringlet with DETAIL": our_operators_in_detail,
}


OURS = {"ringlet.monitored_barrier", "torch.ops.ringlet", "torch.ops.ringlet with DETAIL"}


def be_rank(name, backend, rank, folder):
    from datetime import timedelta

    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    try:
        dist.init_process_group(backend, init_method=f"file://{folder}/store", rank=rank, world_size=2,
                                timeout=timedelta(seconds=RANK_TIMEOUT_S))
        FEATURES[name](torch, dist, rank)
    except BaseException as error:
        (pathlib.Path(folder) / f"why {rank}").write_text(f"{type(error).__name__}: {error}")
        os._exit(1)
    os._exit(0)  # a rank of a failed group has no objects to destroy in order


def reason(folder, ranks):
    """Returns the reason in one short line."""
    for path in sorted(pathlib.Path(folder).glob("why *")):
        line = next(iter(path.read_text().strip().splitlines()), "")
        return line if len(line) <= REASON_MAX else line[:REASON_MAX] + "..."
    for rank in ranks:
        if rank.exitcode:
            return "a rank did not end" if rank.exitcode == -signal.SIGKILL else f"a rank died ({rank.exitcode})"
    return ""


def outcome(name, backend):
    """Returns the result of both forked ranks: success in time, or the reason for the failure."""
    if name in OURS and backend == "gloo":
        return "-", ""
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        ranks = [context.Process(target=be_rank, args=(name, backend, rank, folder)) for rank in range(2)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join(2 * RANK_TIMEOUT_S)
            rank.kill()
            rank.join()
        if all(rank.exitcode == 0 for rank in ranks):
            return "yes", ""
        if all(rank.exitcode == MISSING for rank in ranks):
            return "-", ""
        return "no", reason(folder, ranks)


def show_features(only):
    """Prints a line of JSON in this environment: the outcome by backend and name."""
    import ringlet

    ringlet.Options  # loads the extension once, before the forks
    pairs = [(name, backend) for backend in BACKENDS for name in FEATURES if only in name]
    # Runs several at a time, in processes that fork the ranks, because failing ones mostly wait.
    with concurrent.futures.ProcessPoolExecutor(AT_A_TIME, multiprocessing.get_context("fork")) as pool:
        found = dict(zip(pairs, pool.map(outcome, *zip(*pairs))))
    print(json.dumps({backend: {name: found[name, each] for name, each in pairs if each == backend}
                      for backend in BACKENDS}))


def run(python, words, launched=True, timeout=TIMEOUT_S):
    """Returns the finished process, or None after a timeout."""
    libraries = pathlib.Path(python).parents[1] / "stubs"
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "LD_LIBRARY_PATH": str(libraries)}
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"] if launched else []
    try:
        return subprocess.run([python, *launcher, *map(str, words)], env=variables, capture_output=True, text=True,
                              timeout=timeout)
    except subprocess.TimeoutExpired:
        return None


def said_by(python, program):
    """Returns the output of a short program in an environment; empty if it fails."""
    ran = run(python, ["-c", program], launched=False)
    return ran.stdout.strip() if ran and ran.returncode == 0 else ""


def last_error(ran):
    if ran is None:
        return f"no end after {TIMEOUT_S} s"
    errors = [line.strip() for line in ran.stderr.splitlines() if "Error: " in line]
    found = re.sub(r"^\[\S*\]:", "", errors[0] if errors else f"exit status {ran.returncode}").strip()
    return found if len(found) <= REASON_MAX else found[:REASON_MAX] + "..."


def of_trainer(pythons, name, backend):
    """Returns the cell, and the reason for a missing one."""
    program, package, own = TRAINERS[name]
    python = next((each for each in pythons if said_by(
        each, f"import importlib.util as u; assert u.find_spec({package!r}); print('there')")), None)
    if python is None:
        return "-", ""
    ran = run(python, [EXAMPLES / program, "--backend", backend, "--json"], launched=not own)
    line = next((line for line in (ran.stdout if ran else "").splitlines() if line.startswith('{"')), None)
    if line is None:
        return "no", last_error(ran)
    found = json.loads(line)
    key = next(key for key in found if key.endswith("_s"))
    return f"{found[key] * 1e3:.2f} ms a {key.removesuffix('_s')}", ""


def of_features(python, only):
    """Returns the cell by backend and name, and the reason for a "no"."""
    ran = run(python, [__file__, "--features-here", "--only", only], launched=False, timeout=TESTS_TIMEOUT_S)
    if ran is None or ran.returncode != 0:
        raise SystemExit(f"{python} cannot run the features: {ran.stderr[-2000:] if ran else 'no end'}")
    return json.loads(ran.stdout.splitlines()[-1])


def of_tests(pythons, name):
    """Returns the counts of a program of test/torch, and the failures."""
    wanted = "import accelerate, transformers; print('there')" if name == "trainers" else "print('there')"
    python = next((each for each in pythons if said_by(each, wanted)), None)
    if python is None:
        return "-", ""
    ran = run(python, [ROOT / "test" / "torch" / f"{name}.py", "-v"], launched=False, timeout=TESTS_TIMEOUT_S)
    if ran is None:
        return "no", f"no end after {TESTS_TIMEOUT_S} s"
    count = re.search(r"^Ran (\d+) tests?", ran.stderr, re.M)
    if not count:
        return "no", last_error(ran)
    failed = re.findall(r"^(?:FAIL|ERROR): (\S+)", ran.stderr, re.M)
    skipped = re.search(r"skipped=(\d+)", ran.stderr)
    skips = int(skipped[1]) if skipped else 0
    return f"{int(count[1]) - len(failed) - skips} passed, {skips} skipped, {len(failed)} failed", ", ".join(failed)


def rows_of(names, columns, cell):
    """Yields a row for each name: its cells, then the reason for the first failed one."""
    for name in names:
        found = [cell(name, column) for column in columns]
        why = next((f"{title}: {why}" for (_, why), (title, *_) in zip(found, columns) if why), "")
        row = [name, *(text for text, _ in found), why]
        print(" | ".join(row), file=sys.stderr, flush=True)
        yield row


def tables_of(environments, versions, options):
    pairs = [(f"{backend.capitalize()}, torch {version}", backend, pythons)
             for pythons, version in zip(environments, versions) for backend in BACKENDS]
    ours = [pair for pair in pairs if pair[1] == "ringlet"]
    found = {} if "feature" in options.without else {
        pythons[0]: of_features(pythons[0], options.only) for pythons in environments}
    chosen = lambda names: [name for name in names if options.only in name]
    kinds = {
        "feature": ("Two ranks that check what they got", pairs, chosen(FEATURES),
                    lambda name, column: found[column[2][0]][column[1]][name]),
        "trainer": ("Programs of examples/pytorch, two processes", pairs, chosen(TRAINERS),
                    lambda name, column: of_trainer(column[2], name, column[1])),
        "test": ("Programs of test/torch", ours, chosen(TESTS),
                 lambda name, column: of_tests(column[2], name)),
    }
    for kind, (title, columns, names, cell) in kinds.items():
        if kind in options.without or not names:
            continue
        yield {"title": title, "columns": [kind, *(column[0] for column in columns), "why not"],
               "rows": list(rows_of(names, columns, cell))}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="of an environment; may be repeated")
    parser.add_argument("--trainers", action="append", default=[],
                        help="of another environment, for trainers; may be repeated")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--without", action="append", default=[], choices=["feature", "trainer", "test"],
                        help="leave a table out; may be repeated")
    torch_results.add_arguments(parser)
    parser.add_argument("--features-here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.features_here:
        return show_features(options.only)

    ask = "import ringlet, torch; print(torch.__version__.partition('+')[0])"
    pythons = options.python or [sys.executable]
    versions = [said_by(python, ask) for python in pythons]
    if "" in versions:
        raise SystemExit(f"{pythons[versions.index('')]} cannot import torch and ringlet")
    environments = [[python, *(other for other in options.trainers if said_by(other, ask) == version)]
                    for python, version in zip(pythons, versions)]
    tables = list(tables_of(environments, versions, options))
    torch_results.write(
        options,
        what="PyTorch: features and trainers",
        order=32,
        beside=[f"Gloo of PyTorch {version}" for version in versions],
        where_torch=", ".join(versions),
        command="python bench/torch_features.py " + " ".join("--python PYTHON" for _ in pythons) + " --json FILE",
        note=['"no": the program failed there, and the last column says how; "-": there is no such thing there. '
              "Its package is not to be had for that version of PyTorch, PyTorch of that version has it for no "
              "backend, or it is Ringlet's own. Times are of one run, and say only that it ran."],
        tables=tables)
    for table in tables:
        for row in (table["columns"], ["---"] * len(table["columns"]), *table["rows"]):
            print(f"| {' | '.join(row)} |")
        print()


if __name__ == "__main__":
    main()
