"""vLLM on CPUs, with Ringlet in place of Gloo and of vLLM's own kernel: VLLM_PLUGINS=ringlet.

vLLM finds platforms through entry points. This one is vLLM's platform for CPUs with other
communication. It is active only if VLLM_PLUGINS names it.
"""

import os

_OURS = "ringlet._vllm_platform.Platform"


def platform():
    """Returns the platform class for vLLM; None selects vLLM's own. vLLM calls it in each of its
    processes.
    """
    if "ringlet" not in os.environ.get("VLLM_PLUGINS", "").split(","):
        return None
    from vllm.platforms import cpu_platform_plugin

    return _OURS if cpu_platform_plugin() else None
