"""The commands of an installation with pip: `ringlet`, the included tool, and `ncclras`, which Ray
Train and others start by that name.
"""

import argparse
import os
import pathlib
import sys

_TOOL = pathlib.Path(__file__).parent / "bin" / "ringlet"


def elsewhere(path):
    """Returns the first tool in the folders of `path`; None if none exists. Ignores Python commands
    like this one.
    """
    for folder in filter(None, path.split(os.pathsep)):
        found = pathlib.Path(folder) / "ringlet"
        if found.is_file() and os.access(found, os.X_OK) and found.read_bytes()[:4] == b"\x7fELF":
            return found
    return None


def _become(arguments):
    """Executes the tool. A package built from source without it uses another one on PATH."""
    tool = _TOOL if _TOOL.is_file() else elsewhere(os.environ.get("PATH", ""))
    if tool is None:
        sys.exit("ringlet: this Python package was built without the tool, and PATH does not have it; "
                 "`./ringlet.sh install` in the sources installs it, and wheels include it")
    os.execv(tool, [str(tool), *arguments])


def main():
    """Executes the tool."""
    _become(sys.argv[1:])


def ras_arguments(arguments):
    """Converts the arguments of NCCL's client to those of `ringlet ras`; exits with 1 for a wrong one,
    as that client does.
    """
    parser = argparse.ArgumentParser(
        prog="ncclras", add_help=False, exit_on_error=False, allow_abbrev=False,
        description="Shows the state of a running job of NCCL or Ringlet: an alias of `ringlet ras`.")
    parser.add_argument("-f", "--format", choices=("text", "json"), default="text")
    parser.add_argument("-h", "--host", default="localhost", help="host of the RAS server")
    parser.add_argument("-m", "--monitor", nargs="?", const="lifecycle", metavar="GROUPS",
                        help="show events as they happen: lifecycle, trace or all, separated by commas")
    parser.add_argument("-p", "--port", default="28028")
    parser.add_argument("-t", "--timeout", metavar="SECONDS", help="seconds for ranks to answer; 0: no limit")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all ranks that differ")
    parser.add_argument("--help", action="help", help="print this help and exit")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.error = lambda message: (parser.print_usage(sys.stderr), parser.exit(1, f"ncclras: {message}\n"))
    try:
        given = parser.parse_args(arguments)
    except argparse.ArgumentError as error:
        parser.error(str(error))
    if given.version:
        return ["--version"]
    made = ["ras", f"--host={given.host}", f"--port={given.port}"]
    if given.format == "json":
        made.append("--json")
    if given.verbose:
        made.append("--verbose")
    if given.timeout is not None:
        made.append(f"--timeout={given.timeout}")
    if given.monitor is not None:
        made.append(f"--monitor={given.monitor}")
    return made


def ncclras():
    """Executes `ringlet ras` with the arguments of NCCL's client."""
    _become(ras_arguments(sys.argv[1:]))
