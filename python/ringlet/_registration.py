"""Registers the backend with torch.distributed.

Separate from ringlet._backend, which imports torch: torch calls this module at the end of its own
import.
"""

import importlib
import logging
import os

_NAME = "ringlet"
create = None  # from the compiled part, which ringlet._backend loads


def _create(options, backend_options):
    # Touches as few Python objects as possible, because a forked process pays for its first access
    # to each.
    return (create or _load())(options, backend_options)


def _load():
    importlib.import_module("ringlet._backend").extension()
    return create


def register():
    """Registers once per process, after or at the end of the import of torch."""
    import torch.distributed as dist

    if dist.is_available() and _NAME.upper() not in dist.Backend._plugins:
        dist.Backend.register_backend(_NAME, _create, extended_api=True, devices=["cpu"])
        value = os.environ.get("RINGLET_AS_GLOO", "0")
        if value == "1":
            importlib.import_module("ringlet._as_gloo").replace_gloo()
        elif value not in ("", "0"):
            logging.getLogger(_NAME).warning("RINGLET_AS_GLOO is %r and is ignored: set it to 1 or 0", value)
