"""A process group of Ringlet for torchft, which makes it anew whenever ranks come or go.

    from ringlet.torchft import ProcessGroupRinglet
    manager = torchft.Manager(pg=ProcessGroupRinglet(), ...)
"""

import torch
import torch.distributed as dist
from torchft.process_group import ProcessGroupWrapper

from ringlet._backend import extension

__all__ = ["ProcessGroupRinglet"]


class ProcessGroupRinglet(ProcessGroupWrapper):
    """In the place of torchft's ProcessGroupGloo; `timeout` is that of operations, too."""

    def _create_pg(self, store, rank, world_size):
        kind = dist.ProcessGroup.BackendType.CUSTOM
        group = dist.ProcessGroup(store, rank, world_size)
        group._set_default_backend(kind)
        backend = extension().ProcessGroupRinglet(
            store, rank, world_size, self._timeout, f"torchft {self._quorum_id}")
        group._register_backend(torch.device("cpu"), kind, backend)
        return group

    def _opts_hook(self, opts):
        """With a Work in any case: wrappers of torchft wait for it, also where the caller does not."""
        if hasattr(opts, "asyncOp"):
            opts.asyncOp = True
        return opts

    def getBackendName(self):
        return "torchft-ringlet"
