"""What vLLM calls in its layers, by Ringlet's operators."""

import torch
import torch.distributed as dist
from vllm.distributed.device_communicators.cpu_communicator import CpuCommunicator

import ringlet


class Communicator(CpuCommunicator):
    """vLLM's communicator for CPUs without its kernel for shared memory: Ringlet has one of its own."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.dist_module = dist
        self.supports_tensor_dict = False  # vLLM's way for its own kernel
        self._all_reduce = ringlet.ops.all_reduce_

    def _all_group_ranks_share_shm_group_name(self):
        return False  # so vLLM's kernel is not set up

    def all_reduce(self, input_):
        self._all_reduce(input_, self.device_group.group_name)
        return input_
