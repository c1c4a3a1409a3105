"""What of torch.distributed and of trainers runs on Ringlet and on Gloo: each cell is a program that ran.

    python bench/torch_features.py [--python PYTHON]... [--only NAME]
    python bench/torch_features.py --json bench/results/DATE-MACHINE-pytorch-features.json

A feature is run by two ranks that check what they got; a trainer is a program of examples/pytorch, with
the time of an iteration or a token. PYTHON is that of an environment with torch and ringlet; "no" means
that the program failed there, "-" that its package is not in the environment.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import torch_results

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples" / "pytorch"
BACKENDS = ("gloo", "ringlet")
TIMEOUT_S = 300
RANK_TIMEOUT_S = 30
# Trainer: program, package, whether it starts its processes itself.
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
    """Calls of different sizes are an error on each rank, and no rank dies or gets wrong numbers."""
    try:
        dist.all_reduce(torch.ones(3 + 2 * rank))
    except RuntimeError:
        return
    raise SystemExit("no error")


def wrong_type(torch, dist, rank):
    """The same with the types."""
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
    "distributed checkpoint": checkpoint,
    "dist.monitored_barrier": monitored,
    "ringlet.monitored_barrier": monitored_ours,
    "DDP with TORCH_DISTRIBUTED_DEBUG=DETAIL": detail,
    "sizes that differ are an error": mismatch,
    "types that differ are an error": wrong_type,
}


def be_rank(name, backend, rank, file):
    from datetime import timedelta

    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    dist.init_process_group(backend, init_method=f"file://{file}", rank=rank, world_size=2,
                            timeout=timedelta(seconds=RANK_TIMEOUT_S))
    FEATURES[name](torch, dist, rank)
    os._exit(0)  # a rank whose group has failed has nothing to destroy in order


def runs(name, backend):
    """Whether both ranks, which are forked from this process, end well and in time."""
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        ranks = [context.Process(target=be_rank, args=(name, backend, rank, f"{folder}/store")) for rank in range(2)]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join(2 * RANK_TIMEOUT_S)
            rank.kill()
            rank.join()
        return all(rank.exitcode == 0 for rank in ranks)


def show_features(only):
    """In an environment: a line of JSON, by backend and name whether it runs."""
    import ringlet

    ringlet.Options  # the extension is loaded once, ahead of the forks
    print(json.dumps({backend: {name: runs(name, backend) for name in FEATURES if only in name} for backend in BACKENDS}))


def run(python, words, launched=True):
    """What it wrote; None: it failed."""
    libraries = pathlib.Path(python).parents[1] / "stubs"
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "LD_LIBRARY_PATH": str(libraries)}
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"] if launched else []
    try:
        ran = subprocess.run([python, *launcher, *map(str, words)], env=variables, capture_output=True, text=True,
                             timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return None
    return ran.stdout if ran.returncode == 0 else None


def of_trainer(python, name, backend):
    program, package, own = TRAINERS[name]
    if run(python, ["-c", f"import importlib.util as u; assert u.find_spec({package!r})"], launched=False) is None:
        return "-"
    said = run(python, [EXAMPLES / program, "--backend", backend, "--json"], launched=not own)
    line = next((line for line in (said or "").splitlines() if line.startswith('{"')), None)
    if line is None:
        return "no"
    found = json.loads(line)
    key = next(key for key in found if key.endswith("_s"))
    return f"{found[key] * 1e3:.2f} ms a {key.removesuffix('_s')}"


def of_features(python, only):
    """By backend and name: "yes", "no" or "-"."""
    said = run(python, [__file__, "--features-here", "--only", only], launched=False)
    if said is None:
        raise SystemExit(f"{python} cannot run the features")
    found = json.loads(said.splitlines()[-1])
    return {backend: {name: "-" if name.startswith("ringlet.") and backend == "gloo" else "yes" if ran else "no"
                      for name, ran in names.items()} for backend, names in found.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="of an environment; may be repeated")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    torch_results.add_arguments(parser)
    parser.add_argument("--features-here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.features_here:
        return show_features(options.only)

    pythons = options.python or [sys.executable]
    versions = [run(python, ["-c", "import torch; print(torch.__version__)"], launched=False) for python in pythons]
    if None in versions:
        raise SystemExit(f"{pythons[versions.index(None)]} cannot import torch")
    columns = [f"{backend.capitalize()}, torch {version.strip()}" for version in versions for backend in BACKENDS]
    features = [of_features(python, options.only) for python in pythons]
    rows = {"feature": [], "trainer": []}
    for name in filter(lambda each: options.only in each, FEATURES):
        rows["feature"].append([name, *(found[backend][name] for found in features for backend in BACKENDS)])
    for name in filter(lambda each: options.only in each, TRAINERS):
        rows["trainer"].append([name, *(of_trainer(python, name, backend) for python in pythons for backend in BACKENDS)])
        print(" | ".join(rows["trainer"][-1]), file=sys.stderr, flush=True)
    titles = {"feature": "Two ranks that check what they got", "trainer": "Programs of examples/pytorch"}
    tables = [{"title": titles[kind], "columns": [kind, *columns], "rows": found}
              for kind, found in rows.items() if found]
    torch_results.write(
        options,
        what="PyTorch: features and trainers",
        order=33,
        beside=[column for column in columns if column.startswith("Gloo")],
        command="python bench/torch_features.py " + " ".join(sys.argv[1:]),
        note=['"no": the program failed there; "-": its package is not in that environment, or the feature is '
              "Ringlet's own."],
        tables=tables)
    for table in tables:
        for row in (table["columns"], ["---"] * len(table["columns"]), *table["rows"]):
            print(f"| {' | '.join(row)} |")
        print()


if __name__ == "__main__":
    main()
