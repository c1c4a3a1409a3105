"""Collects the facts about installation and machine that a problem report needs.

    python -m ringlet [--json]
"""

import importlib.metadata
import os
import pathlib
import platform
import shutil
import sys

_FOLDER = pathlib.Path(__file__).parent
# Settings of Ringlet, and settings of other programs that determine how ranks meet.
_PREFIXES = ("RINGLET_", "NCCL_", "OMP_", "TORCH_DISTRIBUTED_", "SLURM_NTASKS", "OMPI_COMM_WORLD_")
_NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
          "TORCH_DEVICE_BACKEND_AUTOLOAD")
_SECRET = ("SECRET", "UNIQUE_ID", "COMM_ID")


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _settings(environment):
    """Returns the relevant variables, without secrets of communicators."""
    chosen = {name: text for name, text in environment.items()
              if name.startswith(_PREFIXES) or name in _NAMES}
    hide = {name for name in chosen if any(word in name for word in _SECRET)}
    return {name: "(set)" if name in hide else text for name, text in sorted(chosen.items())}


def _free_mib(folder):
    try:
        return shutil.disk_usage(folder).free >> 20
    except OSError:
        return None


def _extension(versions, torch):
    """Returns the folder of the extension for torch; None if there is none."""
    minor = "_".join((torch or "").split(".")[:2])
    return f"_torch_{minor}" if minor in versions else None


def collect_env(environment=None):
    """Returns a dict of names and texts, numbers or dicts: versions, extensions, settings, machine.

    environment: variables in place of os.environ. Omits secrets and unique ids. Does not import
    torch or start a process.
    """
    versions = sorted((path.name.removeprefix("_torch_") for path in _FOLDER.glob("_torch_*")),
                      key=lambda text: tuple(map(int, text.split("_"))))
    torch = _version("torch")
    tool = _FOLDER / "bin" / "ringlet"
    found = str(tool) if tool.is_file() else shutil.which("ringlet")
    return {
        "ringlet": _version("ringlet"),
        "folder": str(_FOLDER),
        "torch": torch,
        "extension": _extension(versions, torch),
        "extensions": ", ".join(text.replace("_", ".") for text in versions),
        "tool": found,
        "packages": {name: version for name in ("accelerate", "deepspeed", "lightning", "numpy", "ray",
                                                "transformers", "vllm") if (version := _version(name))},
        "python": f"{platform.python_version()} at {sys.executable}",
        "system": platform.platform(),
        "host": platform.node(),
        "cores": len(os.sched_getaffinity(0)),
        "cores of the machine": os.cpu_count(),
        "shared memory free, MiB": _free_mib("/dev/shm"),
        "settings": _settings(os.environ if environment is None else environment),
    }


def as_text(found):
    """Returns one line per entry."""
    lines = []
    for name, value in found.items():
        if isinstance(value, dict):
            lines += [f"{name}:", *(f"  {each}: {text}" for each, text in value.items())]
        else:
            lines.append(f"{name}: {'none' if value is None else value}")
    return "\n".join(lines)
