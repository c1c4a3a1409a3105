"""Ringlet as a backend of torch.distributed on CPUs.

    import torch.distributed as dist
    dist.init_process_group("ringlet")

The installed package registers itself when torch is imported, so nothing else needs to be imported;
`import ringlet` is for its options and helpers.
"""

import atexit

import torch
import torch.distributed as dist

__all__ = ["Options", "ProcessGroupRinglet", "monitored_barrier"]
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


def _autoload():
    """What torch calls by the entry point `torch.backends`; `import ringlet` has done it."""


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """As torch.distributed.monitored_barrier, which PyTorch itself keeps to Gloo.

    Rank 0 raises RuntimeError with the first rank that has not come within `timeout` (a timedelta),
    or, with `wait_all_ranks`, with all of them; the ranks that came raise what rank 0 said.
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
    """For tests: PyTorch makes groups of ours where it would make Gloo's."""

    class StandIn(_extension().ProcessGroupRinglet):
        kept = []  # Python must know them as Gloo's as long as they live

        def __init__(self, store, rank, size, timeout):
            super().__init__(store, rank, size, timeout, "gloo")
            StandIn.kept.append(self)

    import torch.distributed.distributed_c10d as c10d

    c10d.ProcessGroupGloo = StandIn


_register()
