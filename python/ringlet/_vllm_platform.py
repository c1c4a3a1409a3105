"""The platform of ringlet._vllm. A separate module, because vLLM's classes can be imported only when
vLLM requests them.
"""

from vllm.platforms import cpu_platform_plugin
from vllm.utils.import_utils import resolve_obj_by_qualname

_Cpu = resolve_obj_by_qualname(cpu_platform_plugin())


class Platform(_Cpu):
    """vLLM's platform for CPUs with Ringlet's process groups and collectives."""

    dist_backend = "ringlet"

    @classmethod
    def get_device_communicator_cls(cls):
        return "ringlet._vllm_communicator.Communicator"
