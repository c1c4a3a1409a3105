"""Ringlet: collective communication on CPUs, as a backend of torch.distributed.

    import torch.distributed as dist
    dist.init_process_group("ringlet")

The installed package registers itself when torch is imported, so no other import is necessary;
`import ringlet` provides options and helpers. It does not import torch: `Communicator`, `predict`,
`testing` and `launchers` work without torch, and the other functions import it on first use.
"""

import importlib
import json
import os
import pathlib
import sys

from ringlet.environment import collect_env

__all__ = ["Communicator", "Error", "Options", "ProcessGroupRinglet", "accelerate", "collect_env", "empty",
           "from_launcher", "lib_path", "log_to_logging", "monitored_barrier", "ops", "predict", "unique_id"]
__version__ = "0.2.0"

# Names that load on first use without torch, and their modules.
_WITHOUT_TORCH = {"Communicator": "_communicator", "Error": "_communicator", "unique_id": "_communicator",
                  "lib_path": "_library", "accelerate": "_accelerate", "log_to_logging": "_logging"}
# Names of ringlet._backend, which imports torch.
_OF_TORCH = ("Options", "ProcessGroupRinglet", "empty", "from_launcher", "monitored_barrier", "ops")


def _autoload():
    """Registers the backend. PyTorch calls it through the entry point `torch.backends` on import."""
    importlib.import_module("ringlet._registration").register()


def __getattr__(name):
    module = "_backend" if name in _OF_TORCH else _WITHOUT_TORCH.get(name)
    if module is None:
        raise AttributeError(f"module 'ringlet' has no attribute '{name}'")
    value = globals()[name] = getattr(importlib.import_module(f"ringlet.{module}"), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})


def predict(xml, hosts=1, op="all_reduce", bytes=1 << 20, *, flows=True):
    """Predicts the duration of a collective on GPUs that need not exist, by NCCL's time model.

    xml: the path of an NCCL topology file of one machine, or its text, which begins with "<".
    hosts: number of such machines; each GPU is a rank. At most 4096 ranks.
    op: "all_reduce", "all_gather", "reduce_scatter", "broadcast" or "reduce".
    bytes: size of the larger one of a rank's buffers.
    flows: also count the bytes of each link.

    Returns the output of `ringlet predict --json --flows` as a dict: algorithm, protocol, channels,
    time_us, algbw, busbw, and flows, whose "links" have host, from, to, kind, mb_per_s, bytes and
    time_us, the busiest first. Requires neither a process group nor torch. NCCL_ALGO and the other
    environment variables apply. Raises ValueError for an invalid argument or topology, OSError for
    an unreadable file.
    """
    from ringlet._prediction import predict_json

    text, name = os.fspath(xml), "xml"
    if not text.lstrip().startswith("<"):
        text, name = pathlib.Path(text).read_text(encoding="utf-8", errors="replace"), text
    if not 1 <= hosts < 1 << 32 or not 1 <= bytes < 1 << 63:
        raise ValueError(f"hosts and bytes are at least 1, not {hosts} and {bytes}")
    return json.loads(predict_json(text, name, hosts, op, bytes, flows))


# PyTorch does not call _autoload if it was imported before, or if the variable disables it.
if "torch" in sys.modules or os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") != "1":
    try:
        _autoload()
    except ModuleNotFoundError as missing:
        if missing.name != "torch":
            raise
