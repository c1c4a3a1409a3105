"""The current position of a thread in a program, for errors that name the line of each rank."""

import sys

_FRAMES_MAX = 3
_PACKAGES = ("torch", "ringlet")


def _text(frame):
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


def python_line():
    """Returns the calls outside torch and ringlet: "train.py:17 in step, from train.py:40 in main".

    The innermost call is first; at most three are listed. Without any, returns the innermost call
    of torch. Returns None if the thread does not run Python. Cost: some microseconds.
    """
    innermost = frame = sys._getframe().f_back
    lines = []
    while frame and len(lines) < _FRAMES_MAX:
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _PACKAGES:
            lines.append(_text(frame))
        frame = frame.f_back
    if not lines and innermost:
        lines.append(_text(innermost))
    return ", from ".join(lines) or None
