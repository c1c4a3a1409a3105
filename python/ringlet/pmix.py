"""Facts of a PMIx server about this process: Open MPI's mpirun, `srun --mpi=pmix`, `prun`.

Uses PMIx's C library, loaded on first use. Layouts and numbers are those of the PMIx standard
(versions 2 to 5): pmix_proc_t, pmix_value_t, and the keys' names.
"""

import ctypes
import threading
import time

_LIBRARY = "libpmix.so.2"
_NAMESPACE_BYTES = 256
_ANYONE = 2**32 - 2  # PMIX_RANK_WILDCARD: facts of the whole job
_SUCCESS, _TIMEOUT, _NOT_FOUND = 0, -24, -46
_GLOBAL = 3  # PMIX_GLOBAL: for all ranks of the job
_STRING, _UINT16, _UINT32 = 3, 13, 14
_PAUSE_S = 0.02
_HERE_S = 10  # for facts that the local server has


class Unavailable(Exception):
    """PMIx is not available to this process; the text contains the reason."""


class _Process(ctypes.Structure):
    _fields_ = [("namespace", ctypes.c_char * _NAMESPACE_BYTES), ("rank", ctypes.c_uint32)]


class _Data(ctypes.Union):
    _fields_ = [("text", ctypes.c_char_p), ("uint16", ctypes.c_uint16),
                ("uint32", ctypes.c_uint32), ("largest", ctypes.c_char * 24)]


class _Value(ctypes.Structure):
    _fields_ = [("type", ctypes.c_uint16), ("data", _Data)]


def _load():
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise Unavailable(f"PMIx's library cannot be loaded: {error}") from None
    library.PMIx_Error_string.restype = ctypes.c_char_p
    library.PMIx_Error_string.argtypes = [ctypes.c_int]
    library.PMIx_Init.argtypes = [ctypes.POINTER(_Process), ctypes.c_void_p, ctypes.c_size_t]
    library.PMIx_Get.argtypes = [ctypes.POINTER(_Process), ctypes.c_char_p, ctypes.c_void_p,
                                 ctypes.c_size_t, ctypes.POINTER(ctypes.POINTER(_Value))]
    library.PMIx_Put.argtypes = [ctypes.c_uint8, ctypes.c_char_p, ctypes.POINTER(_Value)]
    library.PMIx_Finalize.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


class Client:
    """A connection to the server, shared with MPI if the program uses it.

    It closes when the program ends and not before: PMIx does not start a second time in a process,
    and mpirun counts a rank that exits without closing as failed.
    """

    def __init__(self):
        """Raises Unavailable if the library is missing, or if no server answers in time."""
        self._library = _load()
        self._self = _Process()
        status = _within(_HERE_S, self._library.PMIx_Init, ctypes.byref(self._self), None, 0)
        self._check("PMIx_Init", _TIMEOUT if status is None else status)

    @property
    def rank(self):
        return self._self.rank

    def size(self):
        """Returns the number of ranks of the job. Raises Unavailable."""
        return self._get(_ANYONE, "pmix.job.size", _HERE_S)

    def local_rank(self):
        """Returns the index among the job's ranks on this host. Raises Unavailable."""
        return self._get(self.rank, "pmix.lrank", _HERE_S)

    def local_size(self):
        """Returns the number of the job's ranks on this host. Raises Unavailable."""
        return self._get(_ANYONE, "pmix.local.size", _HERE_S)

    def publish(self, key, text):
        """Publishes `key` of this rank to all ranks of the job. Raises Unavailable."""
        value = _Value(_STRING, _Data(text=text.encode()))
        self._check("PMIx_Put",
                    self._library.PMIx_Put(_GLOBAL, key.encode(), ctypes.byref(value)))
        self._check("PMIx_Commit", self._library.PMIx_Commit())

    def published(self, rank, key, timeout_s):
        """Waits for the text that `rank` published under `key`. Raises Unavailable."""
        return self._get(rank, key, timeout_s)

    def close(self):
        self._library.PMIx_Finalize(None, 0)  # an error has no use at the end

    def _check(self, call, status):
        if status != _SUCCESS:
            reason = self._library.PMIx_Error_string(status).decode()
            raise Unavailable(f"{call} failed: {reason} ({status})")

    def _get(self, rank, key, timeout_s):
        until = time.monotonic() + timeout_s
        status, found = _within(timeout_s, self._ask, rank, key, until) or (_TIMEOUT, None)
        if status == _TIMEOUT:
            raise Unavailable(f"PMIx did not provide {key} of rank {rank} within {timeout_s:g} s")
        self._check(f"PMIx_Get of {key}", status)
        if found is None:
            raise Unavailable(f"PMIx returned {key} with a type that differs from the standard")
        return found

    def _ask(self, rank, key, until):
        of = _Process(self._self.namespace, rank)
        value = ctypes.POINTER(_Value)()
        while True:
            # Open MPI's server returns after two seconds by itself.
            status = self._library.PMIx_Get(ctypes.byref(of), key.encode(), None, 0,
                                            ctypes.byref(value))
            if status not in (_TIMEOUT, _NOT_FOUND) or time.monotonic() >= until:
                break
            time.sleep(_PAUSE_S)
        # The value is never freed: it is a few bytes, and each version frees it differently.
        return status, _read(value.contents) if status == _SUCCESS else None


def _within(timeout_s, call, *arguments):
    """Returns the result of `call` from a thread, because some servers exceed the limit; None if it is
    late.
    """
    answer = []
    calling = threading.Thread(target=lambda: answer.append(call(*arguments)), daemon=True)
    calling.start()
    calling.join(timeout_s)
    return answer[0] if answer else None


def _read(value):
    if value.type == _STRING:
        return value.data.text.decode()
    if value.type == _UINT16:
        return value.data.uint16
    if value.type == _UINT32:
        return value.data.uint32
    return None
