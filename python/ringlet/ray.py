"""Ray's collectives among actors (ray.util.collective) with Ringlet, for CPU tensors and arrays.

    import ringlet.ray
    ringlet.ray.register()                                    # on the driver and in each actor
    collective.create_collective_group(actors, 2, [0, 1], backend="ringlet")
"""

import time
from datetime import timedelta

import numpy
import ray
import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d
from ray.experimental import internal_kv
from ray.util.collective import register_collective_backend
from ray.util.collective.backend_registry import BackendRegistry
from ray.util.collective.collective_group.base_collective_group import BaseGroup
from ray.util.collective.types import ReduceOp

from ringlet._backend import create_named

__all__ = ["Group", "register"]

_NAME = "RINGLET"
_TIMEOUT = timedelta(minutes=5)
_PAUSE_S = 0.02
_OPS = {ReduceOp.SUM: dist.ReduceOp.SUM, ReduceOp.PRODUCT: dist.ReduceOp.PRODUCT,
        ReduceOp.MIN: dist.ReduceOp.MIN, ReduceOp.MAX: dist.ReduceOp.MAX}  # fmt: skip


def register():
    """Registers the backend "ringlet" with Ray in this process. Further calls have no effect."""
    if not BackendRegistry().is_registered(_NAME):
        register_collective_backend(_NAME, Group)


class Group(BaseGroup):
    """A collective group of Ray, independent of other groups and of torch.distributed."""

    def __init__(self, world_size, rank, group_name):
        """Ray calls it on all ranks. Raises RuntimeError if rank 0 is missing after five minutes."""
        super().__init__(world_size, rank, group_name)
        store = self._meet()
        backend = create_named(store, rank, world_size, _TIMEOUT, f"ray {group_name}")
        cpu = torch.device("cpu")
        self._group = dist.ProcessGroup(store, rank, world_size)
        self._group._set_default_backend(dist.ProcessGroup.BackendType.CUSTOM)
        self._group._register_backend(cpu, dist.ProcessGroup.BackendType.CUSTOM, backend)
        self.barrier()
        if rank == 0:  # all have met, so a later group with this name does not find this one
            internal_kv._internal_kv_del(self._key)

    @property
    def _key(self):
        return f"ringlet_collective_group_{self.group_name}"

    def _meet(self):
        """Returns the store at a free port of rank 0, which publishes its address in Ray's table."""
        if self.rank == 0:
            address = ray.util.get_node_ip_address()
            store = dist.TCPStore(address, 0, self.world_size, is_master=True, timeout=_TIMEOUT, wait_for_workers=False)
            internal_kv._internal_kv_put(self._key, f"{address} {store.port}")
            return store
        give_up = time.monotonic() + _TIMEOUT.total_seconds()
        while (found := internal_kv._internal_kv_get(self._key)) is None:
            if time.monotonic() > give_up:
                raise RuntimeError(f"rank 0 of the group {self.group_name} has not published its address within "
                                   f"{_TIMEOUT}: has its actor called ringlet.ray.register()?")
            time.sleep(_PAUSE_S)
        address, _, port = found.decode().partition(" ")
        return dist.TCPStore(address, int(port), self.world_size, is_master=False, timeout=_TIMEOUT)

    @classmethod
    def backend(cls):
        return _NAME

    @classmethod
    def check_backend_availability(cls):
        return dist.is_available()

    def destroy_group(self):
        self._group.shutdown()

    def allreduce(self, tensor, allreduce_options):
        options = c10d.AllreduceOptions()
        options.reduceOp = _OPS[allreduce_options.reduceOp]
        self._group.allreduce([_only(tensor, written=True)], options).wait()

    def barrier(self, barrier_options=None):
        self._group.barrier(c10d.BarrierOptions()).wait()

    def reduce(self, tensor, reduce_options):
        options = c10d.ReduceOptions()
        options.reduceOp = _OPS[reduce_options.reduceOp]
        options.rootRank = reduce_options.root_rank
        # Ray leaves the tensors of the other ranks unchanged.
        value = _only(tensor, written=True) if self.rank == options.rootRank else _only(tensor).clone()
        self._group.reduce([value], options).wait()

    def allgather(self, tensor_list, tensor, allgather_options=None):
        targets = _list(tensor_list, written=True)
        self._group.allgather([targets], [_only(tensor)], c10d.AllgatherOptions()).wait()

    def broadcast(self, tensor, broadcast_options):
        options = c10d.BroadcastOptions()
        options.rootRank = broadcast_options.root_rank
        self._group.broadcast([_only(tensor, written=self.rank != options.rootRank)], options).wait()

    def reducescatter(self, tensor, tensor_list, reducescatter_options):
        options = c10d.ReduceScatterOptions()
        options.reduceOp = _OPS[reducescatter_options.reduceOp]
        self._group.reduce_scatter([_only(tensor, written=True)], [_list(tensor_list)], options).wait()

    def send(self, tensor, send_options):
        self._group.send([_only(tensor)], send_options.dst_rank, 0).wait()

    def recv(self, tensor, recv_options):
        self._group.recv([_only(tensor, written=True)], recv_options.src_rank, 0).wait()


def _tensor(value, written):
    """Returns a tensor on the memory of `value`. Raises TypeError for other devices and types, and
    ValueError for a read-only array that the call writes to.
    """
    if isinstance(value, numpy.ndarray):
        if written and not value.flags.writeable:
            raise ValueError("the array is read-only, as each array from Ray's object store, and the call writes to "
                             "it: pass array.copy()")
        return torch.from_numpy(value)
    if isinstance(value, torch.Tensor) and value.device.type == "cpu":
        return value
    raise TypeError(f"Ringlet takes tensors of the CPU and NumPy's arrays, not {type(value).__name__}"
                    + (f" on {value.device}" if isinstance(value, torch.Tensor) else ""))


def _only(wrapped, written=False):
    """Unpacks Ray's list, which has one tensor per device of the process."""
    (value,) = wrapped
    return _tensor(value, written)


def _list(wrapped, written=False):
    (values,) = wrapped
    return [_tensor(value, written) for value in values]
