#!/usr/bin/env python3
"""Formats the C and C++ sources of the tree with clang-format 14.

    tools/format.py [--check] [--program CLANG_FORMAT] [FILE...]

Without files: everything below src, include, test, examples and bench. With --check it changes no
file, names the unformatted ones and exits 1.
"""
import argparse
import os
import pathlib
import subprocess
import sys

FOLDERS = ("src", "include", "test", "examples", "bench")
SUFFIXES = {".cpp", ".hpp", ".h", ".c"}


def sources():
    root = pathlib.Path(os.path.relpath(pathlib.Path(__file__).resolve().parent.parent))
    return sorted(str(path) for folder in FOLDERS for path in (root / folder).rglob("*")
                  if path.suffix in SUFFIXES)


def main():
    parser = argparse.ArgumentParser(description="Formats the sources with clang-format 14.")
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if needed")
    parser.add_argument("--program", default="clang-format-14")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    files = arguments.files or sources()
    if not files:
        return 0
    if not arguments.check:
        return subprocess.run([arguments.program, "-i", *files]).returncode
    listing = subprocess.run([arguments.program, "--dry-run", *files], text=True,
                             stderr=subprocess.PIPE)
    if listing.returncode != 0:
        print(listing.stderr, end="")
        return listing.returncode
    first = {}
    for line in listing.stderr.splitlines():
        if "[-Wclang-format-violations]" in line:
            first.setdefault(line.split(":")[0], line.split(":")[1])
    for name, line in first.items():
        print(f"{name}:{line}: not formatted; run tools/format.py")
    return 1 if first else 0


if __name__ == "__main__":
    sys.exit(main())
