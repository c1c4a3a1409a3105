"""The command `ringlet` of an installation with pip: the tool that came with it."""

import os
import pathlib
import sys

_TOOL = pathlib.Path(__file__).parent / "bin" / "ringlet"


def elsewhere(path):
    """The first tool in the folders of `path`; None: there is none. Commands like this one do not count."""
    for folder in filter(None, path.split(os.pathsep)):
        found = pathlib.Path(folder) / "ringlet"
        if found.is_file() and os.access(found, os.X_OK) and found.read_bytes()[:4] == b"\x7fELF":
            return found
    return None


def main():
    """Becomes the tool. A package that was built from source without it takes another one on PATH."""
    tool = _TOOL if _TOOL.is_file() else elsewhere(os.environ.get("PATH", ""))
    if tool is None:
        sys.exit("ringlet: this Python package was built without the tool, and no other one is on PATH; "
                 "`./ringlet.sh install` in the sources installs it, and wheels have it")
    os.execv(tool, [str(tool), *sys.argv[1:]])
