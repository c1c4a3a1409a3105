"""vLLM on CPUs, with Ringlet in the place of Gloo and of vLLM's own kernel: VLLM_PLUGINS=ringlet.

vLLM asks for platforms by entry points. This one is vLLM's platform for CPUs but for what
communicates, and comes into play only where VLLM_PLUGINS names it.
"""

import os

_OURS = "ringlet._vllm_platform.Platform"


def platform():
    """The class that vLLM shall take; None: its own. vLLM calls it in each of its processes."""
    if "ringlet" not in os.environ.get("VLLM_PLUGINS", "").split(","):
        return None
    from vllm.platforms import cpu_platform_plugin

    return _OURS if cpu_platform_plugin() else None
