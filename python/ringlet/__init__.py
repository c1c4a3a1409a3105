"""Ringlet as a backend of torch.distributed on CPUs.

    import torch.distributed as dist
    dist.init_process_group("ringlet")

The installed package registers itself when torch is imported, so nothing else needs to be imported;
`import ringlet` is for its options and helpers.
"""

import atexit
import json
import os
import pathlib
from datetime import timedelta


def _autoload():
    """What torch calls by the entry point `torch.backends`; `import ringlet` has done it.

    Before torch is imported: where this module is what imports it, torch looks for this meanwhile.
    """


import torch as _torch
import torch.distributed as dist

from ringlet import pmix
from ringlet.launchers import pmix_variables, rank_variables

__all__ = ["Options", "ProcessGroupRinglet", "empty", "from_launcher", "monitored_barrier", "predict"]
__version__ = "0.1.0"

_NAME = "ringlet"
_LAZY = ("Options", "ProcessGroupRinglet")


def _extension():
    """The compiled part, loaded when it is first needed: importing torch should stay quick."""
    from ringlet import _C

    if not _extension.loaded:
        _extension.loaded = True
        # Groups that nobody destroyed end before Python does: their threads may need it.
        atexit.register(_C.end_all)
    return _C


_extension.loaded = False


def __getattr__(name):
    if name in _LAZY:
        value = getattr(_extension(), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'ringlet' has no attribute '{name}'")


def _create(options, backend_options):
    return _extension().create(options, backend_options)


def _register():
    if dist.is_available() and _NAME.upper() not in dist.Backend._plugins:
        dist.Backend.register_backend(_NAME, _create, extended_api=True, devices=["cpu"])


def empty(*size, dtype=None):
    """As torch.empty, in memory that the other ranks of the host can reach.

    Collectives of one host do not copy it on their way: an all-reduce of megabytes takes a third to
    three quarters of the time. Views of it and slices count as well. Each allocation is a file descriptor and at least
    64 KiB, so a few large ones are better than many small; memory that was freed is kept for the next
    of its size. A process that was forked from this one shares the memory: it sees what is written
    here, and the other way round. Raises RuntimeError where there is no memory.
    """
    shape = _torch.Size(size[0] if len(size) == 1 and not isinstance(size[0], int) else size)
    dtype = dtype or _torch.get_default_dtype()
    return _extension().allocate(shape.numel() * dtype.itemsize).view(dtype).view(shape)


def from_launcher(timeout=timedelta(minutes=5)):
    """Has init_process_group work in a program that mpirun or srun started.

    Sets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT as far as they are not set; under
    torchrun it does nothing. Where a PMIx server started the program (Open MPI's mpirun,
    `srun --mpi=pmix`), rank 0 serves the store at a free port, and the others learn where from PMIx,
    waiting for `timeout` (a timedelta). Else it is what the variables of Open MPI, MPICH or Slurm say; with
    MPICH over several hosts set MASTER_ADDR yourself. Raises RuntimeError where no launcher is known, one
    says nonsense, or rank 0 does not come.
    """
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        return
    client, why = None, None
    if "PMIX_RANK" in os.environ:
        try:
            client = pmix.Client()
        except pmix.Unavailable as unavailable:
            why = unavailable
    try:
        found = _meet_by_pmix(client, timeout) if client else rank_variables(os.environ)
    except (RuntimeError, pmix.Unavailable) as error:
        raise RuntimeError(f"{error} ({why})" if why else str(error)) from None
    os.environ.update(found)


def _meet_by_pmix(client, timeout):
    atexit.register(client.close)

    def serve(address, port, size):
        # init_process_group finds it by its port, as stores of one process share their server.
        from_launcher.store = dist.TCPStore(address, port, size, is_master=True, timeout=timeout,
                                            wait_for_workers=False, multi_tenant=True)
        return from_launcher.store.port

    return pmix_variables(client, os.environ, serve, _extension().reachable_address,
                          timeout.total_seconds())


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """As torch.distributed.monitored_barrier, which PyTorch itself keeps to Gloo.

    Rank 0 raises RuntimeError with the first rank that has not come within `timeout` (a timedelta),
    or, with `wait_all_ranks`, with all of them; the ranks that came raise what rank 0 said.
    """
    group = group or dist.group.WORLD
    if group is None or group is dist.GroupMember.NON_GROUP_MEMBER:
        return
    backend = group._get_backend(_torch.device("cpu"))
    if timeout is None:
        backend.monitored_barrier(wait_all_ranks=wait_all_ranks)
    else:
        backend.monitored_barrier(timeout, wait_all_ranks)


def predict(xml, hosts=1, op="all_reduce", bytes=1 << 20, *, flows=True):
    """How long a collective would take on GPUs that need not be there, by NCCL's model of times.

    xml: the path of an NCCL topology file of one machine, or its text, which begins with "<".
    hosts: how many such machines there are; each GPU is a rank. At most 4096 ranks.
    op: "all_reduce", "all_gather", "reduce_scatter", "broadcast" or "reduce".
    bytes: of the larger one of a rank's buffers.
    flows: whether the bytes of each link are counted, too.

    Gives what `ringlet predict --json --flows` prints, as a dict: algorithm, protocol, channels, time_us,
    algbw, busbw, and flows, whose "links" have host, from, to, kind, mb_per_s, bytes and time_us, the
    busiest first. No process group is needed. NCCL_ALGO and the other variables of the environment count.
    Raises ValueError where an argument makes no sense or the file is no topology, OSError where it
    cannot be read.
    """
    text, name = os.fspath(xml), "xml"
    if not text.lstrip().startswith("<"):
        text, name = pathlib.Path(text).read_text(encoding="utf-8", errors="replace"), text
    if hosts < 1 or bytes < 1:
        raise ValueError(f"hosts and bytes are at least 1, not {hosts} and {bytes}")
    return json.loads(_extension().predict(text, name, hosts, op, bytes, flows))


def _stand_in_for_gloo():
    """For tests: PyTorch makes groups of ours where it would make Gloo's."""

    class StandIn(_extension().ProcessGroupRinglet):
        kept = []  # Python must know them as Gloo's as long as they live

        def __init__(self, store, rank, size, timeout):
            super().__init__(store, rank, size, timeout, "gloo")
            StandIn.kept.append(self)

    import torch.distributed.distributed_c10d as c10d

    c10d.ProcessGroupGloo = StandIn


_register()
