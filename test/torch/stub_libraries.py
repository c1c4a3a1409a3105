"""Libraries that do nothing, in the place of those that PyTorch's wheel for CUDA wants to load.

On the CPU none of their functions is called, but the loader looks for them.
"""
import collections
import subprocess


def _lines(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()


def _needed(library):
    return {line.split("[")[1].rstrip("]") for line in _lines("readelf", "-d", library) if "(NEEDED)" in line}


def _symbols(library, kind):
    """Their names without versions. `kind`: --undefined-only or --defined-only."""
    lines = _lines("nm", "-D", kind, "--format=posix", library)
    return {line.split()[0].split("@")[0] for line in lines if line}


def _on_this_machine():
    return {line.split()[0] for line in _lines("/sbin/ldconfig", "-p") if "=>" in line}


def make_stubs(libraries, folder):
    """Writes what the *.so of `libraries` need, and neither they nor this machine have, to `folder`.

    Gives the folder; None where nothing is missing. All functions are in the first of the libraries: the
    loader does not mind which one has them. Each returns 100, by which cudaErrorNoDevice is meant.
    """
    here = sorted(libraries.glob("*.so*"))
    there = {library.name for library in here} | _on_this_machine()
    missing = sorted(set().union(*map(_needed, here)) - there - {"ld-linux-x86-64.so.2"})
    if not missing:
        return None
    counts = collections.Counter()
    for library in here:
        counts.update(_symbols(library, "--undefined-only"))
    defined = set().union(*(_symbols(library, "--defined-only") for library in here))
    names = sorted(name for name in counts.keys() - defined if name.startswith(("cu", "nv", "nccl", "__cuda")))
    folder.mkdir()
    code = folder / "stubs.c"
    code.write_text("".join(f"long {name}(void) {{ return 100; }}\n" for name in names))
    for position, name in enumerate(missing):
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{name}", "-o", folder / name,
                        *([code] if position == 0 else ["-x", "c", "/dev/null"])], check=True)
    return folder
