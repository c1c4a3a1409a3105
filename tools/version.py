#!/usr/bin/env python3
"""Prints the version that CMakeLists.txt defines, or compares the other places and docs/reference/support.md.

    tools/version.py            # 0.2.0
    tools/version.py --check    # findings, `file: reason`; exits 1 if there are any

CHANGELOG.md begins with the section of the version.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# All matches of a pattern in its file must equal the version.
PLACES = {
    "pyproject.toml": r'^version = "(.*)"',
    "python/ringlet/__init__.py": r'^__version__ = "(.*)"',
    "CHANGELOG.md": r"\A# Changes\n(?:(?!## ).*\n)*## ([0-9.]+)",
    "docs/howto/check-a-topology-file.md": r"rev: v([0-9.]+)",
    "packaging/kubernetes/nccl-tests.yaml": r"image: \S+:([0-9.]+)",
    "packaging/kubernetes/train.yaml": r"image: \S+:([0-9.]+)",
    "packaging/container/Containerfile.nccl-tests": r"^ARG RINGLET=\S+:([0-9.]+)",
}

# Facts of docs/reference/support.md: the form there, and the file and form of the source.
FACTS = (
    (r"^\| unique id \| (\d+) \|", "src/core/rendezvous/invitation.cpp", r"kVersion = (\d+);"),
    (r"^\| protocol \| (\d+) \|", "src/core/base/wire/handshake.cpp", r"kVersion = (\d+);"),
    (r"^\| arena \| (\d+) \|", "src/core/transport/arena/arena.cpp", r"kVersion = (\d+);"),
    (r"SONAME (\d+):", "cmake/RingletInstall.cmake", r"SOVERSION (\d+) "),
    (r"`nccl.h` 2\.(\d+),", "include/ringlet/compat/nccl.h", r"#define NCCL_MINOR (\d+)"),
    (r"^\| Python \|.*\| ([0-9.]+) and later", "pyproject.toml", r'requires-python = ">=([0-9.]+)"'),
    (r"^\| PyTorch \|.*\| ([0-9.]+) and later", "pyproject.toml", r'torch = \["torch>=([0-9.]+)"'),
    (r"^\| CMake \| ([0-9.]+) ", "CMakeLists.txt", r"cmake_minimum_required\(VERSION ([0-9.]+)"),
    (r"`\./ringlet\.sh test`; ([0-9.]+) to", "tools/product.sh", r"wheels_torches='([0-9.]+) "),
)


def version(root):
    return re.search(r"^project\(ringlet VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text("utf-8"), re.M)[1]


def findings(root):
    for name, form in PLACES.items():
        found = re.findall(form, (root / name).read_text("utf-8"), re.M)
        if not found:
            yield f"{name}: there is no version in the form {form}"
        for other in sorted({each for each in found if each != version(root)}):
            yield f"{name}: the version is {other}, and CMakeLists.txt has {version(root)}"
    page = (root / "docs/reference/support.md").read_text("utf-8")
    for form, source, form_there in FACTS:
        here, there = (re.search(one, text, re.M) for one, text in (
            (form, page), (form_there, (root / source).read_text("utf-8"))))
        if not here or not there:
            yield f"docs/reference/support.md, {source}: there is no {form if not here else form_there}"
        elif here[1] != there[1]:
            yield f"docs/reference/support.md: {here[0]}, and {source} has {there[1]}"


def main(arguments):
    if arguments == ["--check"]:
        found = list(findings(ROOT))
        print("\n".join(found) or f"{len(PLACES)} places have version {version(ROOT)}, and {len(FACTS)} facts are true")
        return 1 if found else 0
    if arguments:
        print("usage: tools/version.py [--check]", file=sys.stderr)
        return 2
    print(version(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
