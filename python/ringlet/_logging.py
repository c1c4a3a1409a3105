"""Ringlet's log as records of Python's logging.

Threads of Ringlet write lines and never wait for Python: the lines stay in memory of the process (a
file without a name) until a thread here converts them to records. So a thread with Python's lock
cannot block a thread that logs.
"""

import atexit
import ctypes
import errno
import logging
import os
import re
import struct
import threading

_LEVELS = {"WARN": logging.WARNING, "INFO": logging.INFO, "ABORT": logging.INFO, "CALL": logging.DEBUG,
           "TRACE": logging.DEBUG}  # fmt: skip
_LINE = re.compile(r"(?P<prefix>.*?) RINGLET (?P<level>WARN|INFO|ABORT|CALL|TRACE) (?P<text>.*)")
_IN_MODIFY = 2
_BLOCK_BYTES = 1 << 16
_KEEP_SIZE_AND_PUNCH_HOLE = 3
_EVENT_BYTES = struct.calcsize("iIII") + 256


def record_of(line):
    """Returns the level of a log line and its text with the place in front; None for an empty line."""
    if not line.strip():
        return None
    found = _LINE.fullmatch(line)
    if not found:
        return logging.INFO, line  # the version
    return _LEVELS[found["level"]], f"{found['prefix']} {found['text']}"


def debug_level(level):
    """Returns RINGLET_DEBUG for a logger that accepts records of `level` and above."""
    if level <= logging.DEBUG:
        return "TRACE"
    return "INFO" if level <= logging.INFO else "WARN"


class _Log:
    """A file in memory to which Ringlet writes, and the thread that reads it."""

    def __init__(self, logger):
        self._logger = logger
        self._memory = os.memfd_create("ringlet-log", os.MFD_CLOEXEC)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._changes = self._watch()
        self._read = 0  # bytes
        self._rest = b""
        self._lock = threading.Lock()
        threading.Thread(target=self._follow, name="ringlet log", daemon=True).start()

    @property
    def path(self):
        return f"/proc/self/fd/{self._memory}"

    def _watch(self):
        changes = self._libc.inotify_init1(os.O_CLOEXEC)
        if changes < 0 or self._libc.inotify_add_watch(changes, self.path.encode(), _IN_MODIFY) < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"cannot follow Ringlet's log: {os.strerror(number)}")
        return changes

    def _follow(self):
        while True:
            try:
                os.read(self._changes, _EVENT_BYTES)
            except OSError as error:
                if error.errno != errno.EINTR:
                    return
            self.take()

    def take(self):
        """Passes on all lines that were written until now."""
        with self._lock:
            if os.fstat(self._memory).st_size < self._read:  # reopened
                self._read, self._rest = 0, b""
            begin = self._read
            while block := os.pread(self._memory, _BLOCK_BYTES, self._read):
                self._read += len(block)
                *lines, self._rest = (self._rest + block).split(b"\n")
                for line in lines:
                    self._hand_on(line.decode(errors="replace"))
            if self._read > begin:  # frees the memory of the lines that were read
                self._libc.fallocate(self._memory, _KEEP_SIZE_AND_PUNCH_HOLE, ctypes.c_long(0),
                                     ctypes.c_long(self._read))

    def _hand_on(self, line):
        found = record_of(line)
        try:
            if found:
                self._logger.log(*found)
        except Exception:  # from a handler of the user: continue with the next lines
            pass


def log_to_logging(logger=None):
    """Sends Ringlet's log to a logger of Python's logging, by default the one named "ringlet".

    Call it once, before the first process group, because Ringlet reads its settings then.
    RINGLET_DEBUG or NCCL_DEBUG sets the level of lines; otherwise the logger's level applies. If
    RINGLET_DEBUG_FILE or NCCL_DEBUG_FILE is set, the log stays in that file. WARN becomes WARNING,
    INFO and ABORT become INFO, CALL and TRACE become DEBUG. Children of a fork log to standard
    output; other child programs are unaffected. Raises OSError if the system refuses.
    """
    chosen = logging.getLogger("ringlet") if logger is None else logger
    if any(os.environ.get(f"{prefix}_DEBUG_FILE") for prefix in ("RINGLET", "NCCL")):
        if not log_to_logging.log:
            chosen.info("Ringlet writes its log to the file of RINGLET_DEBUG_FILE or NCCL_DEBUG_FILE")
        return
    log = log_to_logging.log = _Log(chosen)
    os.environ["RINGLET_DEBUG_FILE"] = log.path
    if not any(os.environ.get(f"{prefix}_DEBUG") for prefix in ("RINGLET", "NCCL")):
        os.environ["RINGLET_DEBUG"] = debug_level(chosen.getEffectiveLevel())
    atexit.register(log.take)
    os.register_at_fork(after_in_child=lambda: os.environ.pop("RINGLET_DEBUG_FILE", None))


log_to_logging.log = None
