"""Tells torch.distributed of the backend.

Apart from ringlet._backend: that imports torch, which calls this at the end of its own import.
"""

import importlib

_NAME = "ringlet"
create = None  # of the compiled part, which ringlet._backend loads


def _create(options, backend_options):
    # A forked process pays for each object of Python that it looks at first: no more of them than needed.
    return (create or _load())(options, backend_options)


def _load():
    importlib.import_module("ringlet._backend").extension()
    return create


def register():
    """Once in a process; torch has been imported, or is about to end its import."""
    import torch.distributed as dist

    if dist.is_available() and _NAME.upper() not in dist.Backend._plugins:
        dist.Backend.register_backend(_NAME, _create, extended_api=True, devices=["cpu"])
