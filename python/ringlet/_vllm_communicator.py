"""The communication of vLLM's layers by Ringlet's operators."""

import torch
import torch.distributed as dist
from vllm.distributed.device_communicators.cpu_communicator import CpuCommunicator

import ringlet


class Communicator(CpuCommunicator):
    """vLLM's communicator for CPUs without its shared-memory kernel, because Ringlet has its own."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.dist_module = dist
        self.supports_tensor_dict = False  # only works with vLLM's kernel
        self._all_reduce = ringlet.ops.all_reduce_

    def _all_group_ranks_share_shm_group_name(self):
        return False  # prevents the setup of vLLM's kernel

    def all_reduce(self, input_):
        self._all_reduce(input_, self.device_group.group_name)
        return input_
