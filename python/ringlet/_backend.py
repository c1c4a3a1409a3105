"""The package as PyTorch sees it: the backend `ringlet`, and helpers that need torch."""

import atexit
import ctypes
import os
import pathlib
import re
import socket
from datetime import timedelta

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Backend, ProcessGroup

from ringlet import _python, _registration, pmix
from ringlet.launchers import pmix_variables, rank_variables

_FOLDER = pathlib.Path(__file__).parent / "lib"
_CPU = torch.device("cpu")
_NO_TIMEOUT = timedelta(0)
DEFAULT_TIMEOUT = timedelta(minutes=30)  # PyTorch's kBackendDefaultTimeout


def extension_path(version, folder=_FOLDER):
    """Returns the extension that was compiled for the torch of `version`, such as "2.13.0+cpu".

    There is one for each minor version, because the layout of PyTorch's classes changes between
    them. Raises ImportError with the supported versions in `folder` if none fits.
    """
    wanted = ".".join(re.match(r"(\d+)\.(\d+)", version).groups())
    there = {path.stem.removeprefix("torch_").replace("_", "."): path for path in folder.glob("torch_*.so")}
    if wanted in there:
        return there[wanted]
    listed = ", ".join(sorted(there, key=lambda each: tuple(map(int, each.split("."))))) or "no version"
    raise ImportError(
        f"this installation of ringlet is for torch {listed}, and torch {version} is installed: install "
        "one of these, or install ringlet from its source, which builds it against the torch that is there"
    )


def extension():
    """Returns the operators of the extension, which is loaded on first use so that importing torch
    stays quick.
    """
    if extension.loaded is None:
        path = extension_path(torch.__version__)
        torch.ops.load_library(path)
        loaded = torch.ops.ringlet_backend
        loaded.prepare(_python.functions(ctypes.PyDLL(str(path))))
        # Ends undestroyed groups before Python ends, because their threads may need Python.
        atexit.register(loaded.end_all)
        # A barrier takes no tensors, so a compiler would otherwise remove it as dead code.
        torch.library.register_fake("ringlet::barrier", lambda group_name: None)
        torch.fx.node.has_side_effect(torch.ops.ringlet.barrier.default)
        if not hasattr(Backend, "options"):  # before PyTorch 2.14, only some classes have it
            Backend.options = property(_options_of)
        _registration.create = create
        extension.loaded = loaded
    return extension.loaded


extension.loaded = None


class Options(Backend.Options):
    """Options of a Ringlet process group; pass them as `pg_options`.

    timeout: for operations.
    init_timeout: for forming a communicator, in the first operation; 0 means `timeout`.
    ranks_per_root: number of ranks per root while the communicator forms.
    """

    def __init__(self, *, timeout=DEFAULT_TIMEOUT, init_timeout=_NO_TIMEOUT, ranks_per_root=128):
        super().__init__("ringlet", timeout)
        self.init_timeout = init_timeout
        self.ranks_per_root = ranks_per_root


def _milliseconds(duration):
    """Rounds up, because 0 and negative numbers have other meanings."""
    return -(-duration // timedelta(milliseconds=1))


def _backend_of(carrier):
    return ProcessGroup.unbox(carrier)._get_backend(_CPU)


def create(torch_options, given=None):
    """Creates a backend for init_process_group and new_group. PyTorch calls it."""
    init_timeout, ranks_per_root = _NO_TIMEOUT, 128
    if isinstance(given, Options):
        init_timeout, ranks_per_root = given.init_timeout, given.ranks_per_root
    # Operators take process groups, but not stores.
    carrier = ProcessGroup(torch_options.store, torch_options.group_rank, torch_options.group_size)
    return _backend_of(extension().create(
        carrier.boxed(), _milliseconds(torch_options.timeout), _milliseconds(init_timeout), ranks_per_root,
        torch_options.group_id, torch_options.global_ranks_in_group,
        getattr(torch_options, "enable_reconfigure", False)))  # fmt: skip


def create_named(store, rank, size, timeout, name):
    """Creates a backend for callers that make a process group themselves."""
    carrier = ProcessGroup(store, rank, size)
    return _backend_of(extension().create_named(carrier.boxed(), _milliseconds(timeout), name))


def _options_of(backend):
    carrier = ProcessGroup(backend.rank(), backend.size())
    carrier._register_backend(_CPU, ProcessGroup.BackendType.CUSTOM, backend)
    found = extension().options(carrier.boxed())
    if not found:
        raise AttributeError(f"the backend {backend.name()} has no attribute 'options'")
    timeout, init_timeout = (timedelta(milliseconds=each) for each in found[:2])
    return Options(timeout=timeout, init_timeout=init_timeout, ranks_per_root=found[2])


class _BackendType(type(Backend)):
    """Creates backends of the extension, which Python sees as objects of PyTorch's class Backend."""

    def __call__(cls, store, rank, size, timeout=DEFAULT_TIMEOUT, name="ringlet"):
        return create_named(store, rank, size, timeout, name)

    def __instancecheck__(cls, value):
        return type(value) is Backend


class ProcessGroupRinglet(Backend, metaclass=_BackendType):
    """The backend of a process group on Ringlet's communicators."""


def __getattr__(name):
    if name == "ops":
        extension()
        return torch.ops.ringlet
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
    """Lets init_process_group work in a program that mpirun, srun or Kubernetes started.

    Sets RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT unless they are
    set; under torchrun it has no effect. If a PMIx server started the program (Open MPI's mpirun,
    `srun --mpi=pmix`), rank 0 serves the store at a free port, and the others get its address from
    PMIx, waiting for `timeout` (a timedelta). Otherwise it reads the variables of Open MPI, MPICH,
    Slurm, Kubeflow's Trainer or an Indexed Job. With MPICH on several hosts, set MASTER_ADDR
    yourself; in an Indexed Job, MASTER_ADDR and WORLD_SIZE. Raises RuntimeError if no launcher is
    known, if its values are invalid, or if rank 0 is missing.
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
    # The name of a pod resolves as soon as the pod exists; PyTorch retries until its timeout.
    if "MASTER_ADDR" in found and found["MASTER_ADDR"] != os.environ.get("PET_MASTER_ADDR") and not client:
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
