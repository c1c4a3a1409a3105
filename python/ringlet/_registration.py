"""Tells torch.distributed of the backend.

Apart from ringlet._backend: that imports torch, which calls this at the end of its own import.
"""

import importlib

_NAME = "ringlet"


def _create(options, backend_options):
    return importlib.import_module("ringlet._backend").extension().create(options, backend_options)


def register():
    """Once in a process; torch has been imported, or is about to end its import."""
    import torch.distributed as dist

    if dist.is_available() and _NAME.upper() not in dist.Backend._plugins:
        dist.Backend.register_backend(_NAME, _create, extended_api=True, devices=["cpu"])
