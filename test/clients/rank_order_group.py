"""A process group on CPU tensors that adds in the order of ranks, as communicators of one host do.

Gloo moves the bytes and adds nothing, so the results compare with those of "nccl" bit for bit.
"""
import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _create_work_from_future

NAME = "rank_order"


def done(result):
    future = torch.futures.Future()
    future.set_result(result)
    return _create_work_from_future(future)


class RankOrderGroup(dist.ProcessGroup):
    """The part of a process group that DistributedDataParallel, DTensor and fully_shard call."""

    def __init__(self, gloo):
        super().__init__(gloo.rank(), gloo.size())
        self._gloo = gloo

    supports_splitting = False  # new_group queries it for the device of the default group

    def getBackendName(self):
        return NAME

    def _get_backend(self, device):
        return self

    @property
    def group_name(self):
        return dist.distributed_c10d._world.pg_names[self]

    def _of_all(self, tensor):
        parts = [torch.empty_like(tensor, memory_format=torch.contiguous_format) for _ in range(self.size())]
        dist.all_gather(parts, tensor.contiguous(), group=self._gloo)
        return parts

    def _reduced(self, tensor, operation):
        parts = self._of_all(tensor)
        if operation == dist.ReduceOp.AVG:
            parts = [part / self.size() for part in parts]
        elif operation != dist.ReduceOp.SUM:
            raise NotImplementedError(f"{NAME} has no {operation}")
        result = parts[0]
        for part in parts[1:]:
            result = result + part
        return result

    def allreduce(self, tensors, options=None):
        operation = options.reduceOp if options else dist.ReduceOp.SUM
        for tensor in tensors:
            tensor.copy_(self._reduced(tensor, operation))
        return done(tensors)

    allreduce_coalesced = allreduce

    def broadcast(self, tensors, options):
        for tensor in tensors:
            tensor.copy_(self._of_all(tensor)[options.rootRank])
        return done(tensors)

    def scatter(self, outputs, inputs, options):
        parts = inputs[0] if self.rank() == options.rootRank else None
        dist.scatter(outputs[0], parts, group=self._gloo, group_src=options.rootRank)
        return done(outputs)

    def allgather(self, outputs, inputs, options=None):
        for parts, tensor in zip(outputs, inputs):
            for part, other in zip(parts, self._of_all(tensor)):
                part.copy_(other)
        return done(outputs)

    def all_gather_single(self, output, tensor, options=None):
        output.copy_(torch.cat([part.flatten() for part in self._of_all(tensor)]).view_as(output))
        return done(output)

    def reduce_scatter_single(self, output, tensor, options):
        whole = self._reduced(tensor, options.reduceOp)
        output.copy_(whole.flatten().chunk(self.size())[self.rank()].view_as(output))
        return done(output)

    def barrier(self, options=None):
        dist.barrier(group=self._gloo)
        return done(None)


def new_group():
    """Returns a group of all ranks. Call it after init_process_group."""
    gloo = dist.new_group(backend="gloo")
    dist.Backend.register_backend(NAME, lambda store, rank, size, timeout: RankOrderGroup(gloo), devices=["cpu"])
    return dist.new_group(backend=NAME)
