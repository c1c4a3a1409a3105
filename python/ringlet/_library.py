"""The C library of the package, loaded with ctypes on first use."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib

_FOLDER = pathlib.Path(__file__).parent / "lib"
_NAME = "libringlet.so.0"
ID_BYTES = 128


class UniqueId(ctypes.Structure):
    """ncclUniqueId, which functions take by value."""

    _fields_ = [("internal", ctypes.c_char * ID_BYTES)]


def lib_path() -> str:
    """Returns the folder of libringlet.so.0. Its folder `ringlet/compat` has libnccl.so.2:

        LD_LIBRARY_PATH=$(python -c 'import ringlet; print(ringlet.lib_path())')/ringlet/compat ./program

    Raises ImportError if this package was installed without the library.
    """
    if not (_FOLDER / _NAME).is_file():
        raise ImportError(f"{_FOLDER} does not have {_NAME}, because this package was built without it: install "
                          "a wheel of ringlet, or the library with `./ringlet.sh install` in the sources")
    return str(_FOLDER)


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    """Returns the library of the package, else the one that the loader finds. Raises ImportError.

    The functions have no argtypes, because these cost a fifth of a small call: pass pointers,
    handles and sizes as objects of ctypes.
    """
    found = _FOLDER / _NAME
    try:
        library = ctypes.CDLL(str(found) if found.is_file() else _NAME)
    except OSError as error:
        raise ImportError(f"Ringlet's library cannot be loaded: {error}; install a wheel of ringlet, which contains "
                          f"it, or add the folder of {_NAME} to LD_LIBRARY_PATH") from None
    library.ncclGetLastError.restype = ctypes.c_char_p
    library.ncclGetErrorString.restype = ctypes.c_char_p
    library.ringletStreamLastMessage.restype = ctypes.c_char_p
    return library


def emulated() -> bool:
    """Returns whether `ringlet emulate` started the process: NULL is then a stream, as in CUDA."""
    return "RINGLET_EMULATE_DEVICES" in os.environ
