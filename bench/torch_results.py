"""Writes files of bench/results about PyTorch, in the form that bench/report.py reads."""

import argparse
import datetime
import json
import os
import platform
import subprocess
from importlib import metadata


def parser_of(doc, processes, runs):
    """Returns a parser with the options of all programs that start processes themselves."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", default=processes, help="list of numbers of processes")
    parser.add_argument("--runs", type=int, default=runs, help="of each backend")
    add_arguments(parser)
    return parser


def add_arguments(parser):
    parser.add_argument("--json", metavar="FILE", help="write a file for bench/results")
    parser.add_argument("--where", help="machine, for the file; default: what the system says")
    parser.add_argument("--commit", help="commit that was measured; default: that of the working tree")


def torch_version():
    return metadata.version("torch")  # avoids the import of torch


def this_machine(versions=None):
    model = "unknown processor"
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return (f"{len(os.sched_getaffinity(0))} cores ({model}), {platform.freedesktop_os_release()['PRETTY_NAME']}; "
            f"PyTorch {versions or torch_version()}, one thread a process")


def this_commit():
    done = subprocess.run(["git", "-C", os.path.dirname(__file__), "describe", "--always", "--dirty"],
                          capture_output=True, text=True)
    return done.stdout.strip() or None


def write(options, **parts):
    """Writes the file named by `options`, if any."""
    if not options.json:
        return
    versions = parts.pop("where_torch", None)  # if several were measured
    result = {
        "what": parts.pop("what"),
        "where": options.where or this_machine(versions),
        "when": datetime.date.today().isoformat(),
        "beside": parts.pop("beside", None) or [f"Gloo of PyTorch {torch_version()}"],
        "commit": options.commit or this_commit(),
        **parts,
    }
    with open(options.json, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
