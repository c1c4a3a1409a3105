"""A process group of Ringlet for torchft, which recreates it whenever ranks join or leave.

    from ringlet.torchft import ProcessGroupRinglet

    manager = torchft.Manager(pg=ProcessGroupRinglet(), ...)
"""

import torch
import torch.distributed as dist
from torchft.process_group import ProcessGroupWrapper

from ringlet._backend import create_named

__all__ = ["ProcessGroupRinglet"]


class ProcessGroupRinglet(ProcessGroupWrapper):
    """Replaces torchft's ProcessGroupGloo; `timeout` also applies to operations."""

    def _create_pg(self, store, rank, world_size):
        kind = dist.ProcessGroup.BackendType.CUSTOM
        group = dist.ProcessGroup(store, rank, world_size)
        group._set_default_backend(kind)
        backend = create_named(store, rank, world_size, self._timeout, f"torchft {self._quorum_id}")
        group._register_backend(torch.device("cpu"), kind, backend)
        return group

    def _opts_hook(self, opts):
        """Always requests a Work, because wrappers of torchft wait for it even if the caller does not."""
        if hasattr(opts, "asyncOp"):
            opts.asyncOp = True
        return opts

    def getBackendName(self):
        return "torchft-ringlet"
