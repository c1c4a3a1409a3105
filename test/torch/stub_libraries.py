"""Builds empty libraries in the place of those that PyTorch's wheel for CUDA loads.

On the CPU PyTorch calls none of their functions, but the loader searches for them, and for their
versions.
"""
import collections
import re
import subprocess


def _lines(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


def _needed(library):
    return {line.split("[")[1].rstrip("]") for line in _lines("readelf", "-d", library) if "(NEEDED)" in line}


def _versions(library):
    """Returns the versions that a library requires: pairs of a library's name and a version."""
    asked, of = set(), None
    for line in _lines("objdump", "-p", library):
        if match := re.match(r"\s+required from (\S+):", line):
            of = match[1]
        elif of and (match := re.match(r"\s+0x\w+ 0x\w+ \d+ (\S+)", line)):
            asked.add((of, match[1]))
        else:
            of = None
    return asked


def _symbols(library, kind):
    """Pairs of a name and its version, maybe empty. `kind`: --undefined-only or --defined-only."""
    words = (line.split()[0] for line in _lines("nm", "-D", kind, "--format=posix", library) if line)
    return {(name, version.lstrip("@")) for name, _, version in (word.partition("@") for word in words)}


def _on_this_machine():
    return {line.split()[0] for line in _lines("/sbin/ldconfig", "-p") if "=>" in line}


def _build(folder, name, functions, versions):
    """functions: by version. Each returns 100, for cudaErrorNoDevice."""
    code, script = folder / "stub.c", folder / "stub.map"
    code.write_text("".join(f"long {each}(void) {{ return 100; }}\n" for each in sorted(set().union(*functions.values(), ()))))
    script.write_text("".join(f"{version} {{ global: {' '.join(f'{each};' for each in functions[version])} }};\n"
                              for version in sorted(versions)))
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{name}", "-o", folder / name, code,
                    *([f"-Wl,--version-script={script}"] if versions else [])], check=True)


def make_stubs(libraries, folder):
    """Writes to `folder` the libraries that the *.so of `libraries` need and that neither they nor
    this machine have.

    Returns the folder, or None if no library is missing. Functions without a version are in the
    first of the libraries, because the loader accepts them in any.
    """
    here = sorted(libraries.glob("*.so*"))
    there = {library.name for library in here} | _on_this_machine()
    missing = sorted(set().union(*map(_needed, here)) - there - {"ld-linux-x86-64.so.2"})
    if not missing:
        return None
    versions = collections.defaultdict(set)
    for library, version in set().union(*map(_versions, here)):
        versions[library].add(version)
    wanted = set().union(*(_symbols(library, "--undefined-only") for library in here))
    defined = {name for library in here for name, _ in _symbols(library, "--defined-only")}
    by_version = collections.defaultdict(set)
    for name, version in wanted:
        if name not in defined and name.startswith(("cu", "nv", "nccl", "__cuda")):
            by_version[version].add(name)
    folder.mkdir()
    for position, name in enumerate(missing):
        functions = collections.defaultdict(set, {version: by_version[version] for version in versions[name]})
        if position == 0:
            functions[""] = by_version[""]
        _build(folder, name, functions, versions[name])
    return folder
