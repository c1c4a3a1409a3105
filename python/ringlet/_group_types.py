"""The classes of the backend in Python. Apart from ringlet._backend, because most programs do not use them."""

import operator
from datetime import timedelta

from torch._C._distributed_c10d import Backend, ProcessGroup

from ringlet._backend import CPU, DEFAULT_TIMEOUT, NO_TIMEOUT, RANKS_PER_ROOT, create_named, extension


class Options(Backend.Options):
    """Options of a Ringlet process group; pass them as `pg_options`.

    timeout: for operations.
    init_timeout: for forming a communicator, in the first operation; 0 means `timeout`.
    ranks_per_root: number of ranks per root while the communicator forms.
    """

    def __init__(self, *, timeout=DEFAULT_TIMEOUT, init_timeout=NO_TIMEOUT, ranks_per_root=RANKS_PER_ROOT):
        super().__init__("ringlet", timeout)
        if not isinstance(init_timeout, timedelta):
            raise TypeError(f"init_timeout is {init_timeout!r}: pass a datetime.timedelta")
        if not 1 <= operator.index(ranks_per_root) < 1 << 31:
            raise ValueError(f"ranks_per_root is {ranks_per_root}, and not between 1 and {(1 << 31) - 1}")
        self.init_timeout = init_timeout
        self.ranks_per_root = ranks_per_root


def options_of(backend):
    carrier = ProcessGroup(backend.rank(), backend.size())
    carrier._register_backend(CPU, ProcessGroup.BackendType.CUSTOM, backend)
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
