"""The package as PyTorch sees it: the backend `ringlet`, and helpers that need torch."""

import atexit
import ctypes
import functools
import importlib
import pathlib
import re
from datetime import timedelta

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import Backend, ProcessGroup

from ringlet import _python, _registration

_FOLDER = pathlib.Path(__file__).parent / "lib"
# Modules that the start of a group does not need.
_ELSEWHERE = {"Options": "ringlet._group_types", "ProcessGroupRinglet": "ringlet._group_types",
              "from_launcher": "ringlet._from_launcher"}  # fmt: skip
CPU = torch.device("cpu")
NO_TIMEOUT = timedelta(0)
RANKS_PER_ROOT = 128
_LONGEST = timedelta(days=36_500)
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
        # PyTorch's callable of an operator, without its search for process groups in the arguments.
        _registration.create = functools.partial(_create, getattr(loaded.create.default, "_op", loaded.create))
        extension.loaded = loaded
    return extension.loaded


extension.loaded = None


def milliseconds(duration):
    """Rounds up, because 0 and negative numbers have other meanings. The C++ part counts nanoseconds,
    and would overflow after 292 years, so a longer duration becomes 100 years.
    """
    return -(-min(duration, _LONGEST) // timedelta(milliseconds=1))


def _create(operator, torch_options, given=None):
    """Creates a backend for init_process_group and new_group. PyTorch calls it."""
    # Operators take process groups, but not stores and backends.
    carrier = ProcessGroup(torch_options.store, torch_options.group_rank, torch_options.group_size)
    operator(
        carrier.boxed(), milliseconds(torch_options.timeout), milliseconds(getattr(given, "init_timeout", NO_TIMEOUT)),
        getattr(given, "ranks_per_root", RANKS_PER_ROOT),
        torch_options.group_id, torch_options.global_ranks_in_group,
        getattr(torch_options, "enable_reconfigure", False))  # fmt: skip
    return carrier._get_backend(CPU)


def create_named(store, rank, size, timeout, name):
    """Creates a backend for callers that make a process group themselves."""
    carrier = ProcessGroup(store, rank, size)
    extension().create_named(carrier.boxed(), milliseconds(timeout), name)
    return carrier._get_backend(CPU)


def _options_of(backend):
    from ringlet._group_types import options_of

    return options_of(backend)


def __getattr__(name):
    if name == "ops":
        extension()
        return torch.ops.ringlet
    if name in _ELSEWHERE:
        value = globals()[name] = getattr(importlib.import_module(_ELSEWHERE[name]), name)
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
