"""Ends a blocked call of the main thread on Ctrl-C.

Python runs the handler of SIGINT between two bytecodes, which a call blocked in the C library never
reaches. The interpreter also writes the signal's number to a file descriptor, immediately. A thread
waits there and aborts the communicator of the blocked call, which then returns, and Python raises
KeyboardInterrupt. Calls pay nothing for it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any, Callable, List, Optional, Tuple, TypeVar

_GRACE_S = 0.1  # Python has raised KeyboardInterrupt by then, unless the main thread is blocked
_Result = TypeVar("_Result")
_installed: Optional[Tuple[int, int]] = None


def _blocked_frame(file: str) -> Optional[FrameType]:
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    return frame if frame is not None and frame.f_code.co_filename == file else None


def _watch(read: int, file: str) -> None:
    while signals := os.read(read, 4096):
        if signal.SIGINT not in signals or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            continue
        before = _blocked_frame(file)
        time.sleep(_GRACE_S)
        if before is not None and _blocked_frame(file) is before:
            target = before.f_locals.get("self")
            if target is not None:
                target.abort()
        del before


def install(file: str) -> None:
    """Makes Ctrl-C call `self.abort()` of a function of `file` in which the main thread is blocked.

    Has no effect outside the main thread, or if the program uses signal.set_wakeup_fd itself, as
    asyncio does.
    """
    global _installed
    if _installed or threading.current_thread() is not threading.main_thread():
        return
    read, write = os.pipe()
    os.set_blocking(write, False)
    previous = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    if previous != -1:
        signal.set_wakeup_fd(previous)
        os.close(read)
        os.close(write)
        return
    _installed = (read, write)
    threading.Thread(target=_watch, args=(read, file), name="ringlet interrupt", daemon=True).start()


def _forget_in_child() -> None:
    """Detaches a forked process from the pipe of its parent."""
    global _installed
    if _installed:
        previous = signal.set_wakeup_fd(-1)
        if previous != _installed[1]:
            signal.set_wakeup_fd(previous)
        for end in _installed:
            os.close(end)
        _installed = None


os.register_at_fork(after_in_child=_forget_in_child)


def wait_for(call: Callable[[], _Result]) -> _Result:
    """Returns the result of `call`, which runs in a thread so that Ctrl-C does not wait for it.

    After Ctrl-C the thread continues until `call` returns.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    found: List[Any] = []

    def run() -> None:
        try:
            found.append((call(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run, name="ringlet forming", daemon=True)
    thread.start()
    thread.join()
    result, error = found[0]
    if error is not None:
        raise error
    return result
