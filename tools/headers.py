#!/usr/bin/env python3
"""Compiles every public header by itself, as C++17 and C++20, with every given compiler.

    tools/headers.py COMPILER...

A header fails if it needs another one before it, or if it causes a warning.
"""
import pathlib
import subprocess
import sys

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
STANDARDS = ("c++17", "c++20")
FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion",
         "-Werror", "-fsyntax-only", f"-I{INCLUDE}"]


def compile_alone(compiler, header):
    name = header.relative_to(INCLUDE).as_posix()
    twice = f"#include <{name}>\n#include <{name}>\n"
    return all(subprocess.run([compiler, f"-std={standard}", *FLAGS, "-x", "c++", "-"],
                              input=twice, text=True).returncode == 0
               for standard in STANDARDS)


def main(compilers):
    if not compilers:
        print("usage: tools/headers.py COMPILER...", file=sys.stderr)
        return 2
    headers = sorted(path for path in INCLUDE.rglob("*") if path.suffix in {".h", ".hpp"})
    failed = [(compiler, header) for compiler in compilers for header in headers
              if not compile_alone(compiler, header)]
    for compiler, header in failed:
        print(f"{header.relative_to(INCLUDE.parent)}:1: does not compile alone with {compiler}")
    return 1 if failed or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
