"""The package as PyTorch sees it: the backend `ringlet`, and helpers that need torch."""

import atexit
import importlib
import os
import pathlib
import re
import socket
from datetime import timedelta

import torch
import torch.distributed as dist

from ringlet import _registration, pmix
from ringlet.launchers import pmix_variables, rank_variables

_LAZY = ("Options", "ProcessGroupRinglet")  # from the extension
_FOLDER = pathlib.Path(__file__).parent


def extension_name(version, folder=_FOLDER):
    """Returns the module that was compiled for the torch of `version`, such as "2.13.0+cpu".

    There is one module for each minor version, because the layout of PyTorch's classes changes
    between them. Raises ImportError with the names of the modules in `folder` if none fits.
    """
    wanted = "_".join(re.match(r"(\d+)\.(\d+)", version).groups())
    there = [path.name.removeprefix("_torch_") for path in folder.glob("_torch_*")]
    if wanted in there:
        return f"ringlet._torch_{wanted}._C"
    known = sorted((tuple(map(int, each.split("_"))) for each in there), reverse=True)
    listed = ", ".join(f"{major}.{minor}" for major, minor in reversed(known)) or "no version"
    raise ImportError(
        f"this installation of ringlet is for torch {listed}, and torch {version} is installed: install "
        "one of these, or install ringlet from its source, which builds it against the torch that is there"
    )


def extension():
    """Returns the compiled part, loaded on first use so that importing torch stays quick."""
    if extension.loaded is None:
        compiled = importlib.import_module(extension_name(torch.__version__))
        # Ends undestroyed groups before Python ends, because their threads may need Python.
        atexit.register(compiled.end_all)
        compiled.offer_symmetric_memory()
        # A barrier takes no tensors, so a compiler would otherwise remove it as dead code.
        torch.library.register_fake("ringlet::barrier", lambda group_name: None)
        torch.fx.node.has_side_effect(torch.ops.ringlet.barrier.default)
        _shorten_calls(compiled)
        _registration.create = compiled.create
        extension.loaded = compiled
    return extension.loaded


extension.loaded = None


def _shorten_calls(compiled):
    """Connects torch.ops.ringlet directly to PyTorch's dispatcher, if this PyTorch keeps the callable
    of an operator in `_op`, as 2.13 does.
    """
    for name in ("all_reduce_", "broadcast_", "all_gather_into_tensor", "reduce_scatter_tensor", "barrier"):
        packet = getattr(torch.ops.ringlet, name)
        for operator in (packet, packet.default):
            if callable(getattr(operator, "_op", None)):
                operator._op = compiled.direct_call(name, operator._op)
                _tell_torchscript(operator._op, f"ringlet::{name}")


def _tell_torchscript(operator, name):
    """Registers the callable by which TorchScript finds an operator. Later versions of PyTorch may
    lack TorchScript.
    """
    builtins = getattr(torch.jit, "_builtins", None)
    if builtins is not None:
        builtins._register_builtin(operator, name)


def __getattr__(name):
    if name == "ops":
        extension()
        return torch.ops.ringlet
    if name in _LAZY:
        value = globals()[name] = getattr(extension(), name)
        return value
    raise AttributeError(f"module 'ringlet._backend' has no attribute '{name}'")


def empty(*size, dtype=None):
    """As torch.empty, in memory that the other ranks of the host can reach.

    Collectives within one host do not copy it: an all-reduce of megabytes takes a third to three
    quarters of the time. Views and slices of it count too. Each allocation takes a file descriptor
    and at least 64 KiB, so prefer a few large ones; freed memory is kept for the next of its size.
    A forked process shares the memory in both directions. Raises RuntimeError if memory runs out.
    """
    shape = torch.Size(size[0] if len(size) == 1 and not isinstance(size[0], int) else size)
    dtype = dtype or torch.get_default_dtype()
    return extension().allocate(shape.numel() * dtype.itemsize).view(dtype).view(shape)


def from_launcher(timeout=timedelta(minutes=5)):
    """Lets init_process_group work in a program that mpirun or srun started.

    Sets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT unless they are
    set; under torchrun it has no effect. If a PMIx server started the program (Open MPI's mpirun,
    `srun --mpi=pmix`), rank 0 serves the store at a free port, and the others get its address from
    PMIx, waiting for `timeout` (a timedelta). Otherwise it reads the variables of Open MPI, MPICH
    or Slurm; with MPICH on several hosts, set MASTER_ADDR yourself. Raises RuntimeError if no
    launcher is known, if its values are invalid, or if rank 0 is missing.
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
    if "MASTER_ADDR" in found and not client:
        _check_name(found["MASTER_ADDR"])
    os.environ.update(found)


def _check_name(host):
    """Raises RuntimeError if no host has this name, because PyTorch would retry until its timeout."""
    try:
        socket.getaddrinfo(host, None)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):  # permanent
            raise RuntimeError(f"srun reports that rank 0 is on {host}, but that name does not resolve here: "
                               "set MASTER_ADDR to its address, or start with srun --mpi=pmix") from None


def _meet_by_pmix(client, timeout):
    atexit.register(client.close)

    def serve(address, port, size):
        # init_process_group finds it by its port, because stores of one process share their server.
        from_launcher.store = dist.TCPStore(address, port, size, is_master=True, timeout=timeout,
                                            wait_for_workers=False, multi_tenant=True)
        return from_launcher.store.port

    return pmix_variables(client, os.environ, serve, extension().reachable_address,
                          timeout.total_seconds())


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """As torch.distributed.monitored_barrier, which PyTorch limits to Gloo.

    Rank 0 raises RuntimeError with the first rank that does not arrive within `timeout` (a
    timedelta), or, with `wait_all_ranks`, with all of them; the other ranks raise rank 0's message.
    """
    group = group or dist.group.WORLD
    if group is None or group is dist.GroupMember.NON_GROUP_MEMBER:
        return
    backend = group._get_backend(torch.device("cpu"))
    if timeout is None:
        backend.monitored_barrier(wait_all_ranks=wait_all_ranks)
    else:
        backend.monitored_barrier(timeout, wait_all_ranks)


def _stand_in_for_gloo():
    """For tests: makes PyTorch create Ringlet's groups in place of Gloo's."""

    class StandIn(extension().ProcessGroupRinglet):
        kept = []  # Python must see them as Gloo's groups while they live

        def __init__(self, store, rank, size, timeout, enable_reconfigure=False):  # since PyTorch 2.15
            assert not enable_reconfigure, "groups whose members change need the backend name ringlet"
            super().__init__(store, rank, size, timeout, "gloo")
            StandIn.kept.append(self)

    import torch.distributed.distributed_c10d as c10d

    c10d.ProcessGroupGloo = StandIn
