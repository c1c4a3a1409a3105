#!/usr/bin/env python3
"""Makes a folder with which GCC links for an older glibc and libstdc++.

    old_glibc.py VERSION PROCESSOR FOLDER      old_glibc.py 2.28 x86_64 build/glibc-2.28-x86_64
    old_glibc.py names FILE                    the tables for packaging/glibc_compat.c alone

The folder contains the start files and link stubs of that glibc, made by zig, a link stub of
libstdc++.so.6 with the symbols of the manylinux policy, static libraries of fmt and Highway from
Debian's sources, and packaging/glibc_compat.c. GCC searches the folder first with `-B FOLDER -L
FOLDER`. Newer functions of libstdc++ come from GCC's libstdc++.a, as in the toolsets of Red Hat.
The Python of the script needs `ziglang` and `auditwheel` from PyPI.
"""
import ctypes
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

_SOURCES = pathlib.Path(__file__).resolve().parent.parent
_LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
_NUMBERS = 200  # more than there are errors or signals
_FLAGS = ("-O2", "-fPIC", "-ffunction-sections", "-fdata-sections", "-fstack-protector-strong")


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], check=False, text=True, stdout=subprocess.PIPE,
                          **options)
    if done.returncode != 0:
        sys.exit(f"old_glibc.py: {' '.join(map(str, command))} failed; see above.")
    return done.stdout


def policy(version, processor):
    """Returns the symbol versions that auditwheel allows: {"GLIBCXX": ["3.4", ...], ...}."""
    package = pathlib.Path(importlib.util.find_spec("auditwheel").origin).parent
    policies = json.loads((package / "policy" / "manylinux-policy.json").read_text())
    name = "manylinux_" + version.replace(".", "_")
    for one in policies:
        if one["name"] == name and processor in one["symbol_versions"]:
            return one["symbol_versions"][processor]
    sys.exit(f"old_glibc.py: auditwheel has no policy {name} for {processor}.")


def write_names(path):
    """Writes C tables of the functions that glibc has from 2.32 on. The numbers are those of both
    processors.
    """
    glibc = ctypes.CDLL(None)
    tables = (("kErrorNames", glibc.strerrorname_np), ("kErrorTexts", glibc.strerrordesc_np),
              ("kSignalNames", glibc.sigabbrev_np))
    text = ""
    for name, function in tables:
        function.restype = ctypes.c_char_p
        rows = ((number, function(number)) for number in range(_NUMBERS))
        text += f"static const char* const {name}[] = {{\n" + "".join(
            f'  [{number}] = "{row.decode()}",\n' for number, row in rows if row is not None) + "};\n"
    path.write_text(text)


class Folder:
    def __init__(self, version, processor, path):
        self.version, self.processor, self.path = version, processor, path
        prefix = "" if processor == os.uname().machine else f"{processor}-linux-gnu-"
        self.gcc, self.gxx, self.ar, self.readelf = (prefix + tool for tool in ("gcc", "g++", "ar", "readelf"))

    def make(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir(parents=True)
        self.add_glibc()
        self.add_compat()
        self.add_libstdcxx()
        self.add_archives()

    def add_glibc(self):
        """zig makes stubs and start files when it links, and keeps them in its cache."""
        work = self.path / "zig"
        work.mkdir()
        (work / "main.c").write_text("int main(void) { return 0; }\n")
        run(sys.executable, "-m", "ziglang", "cc", "-target", f"{self.processor}-linux-gnu.{self.version}",
            "-pie", "main.c", "-o", "main", cwd=work,
            env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(work), "ZIG_LOCAL_CACHE_DIR": str(work)})
        later = ["libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0"]
        for name in ("Scrt1.o", "libc_nonshared.a", "libc.so.6", *later):
            path, = work.rglob(name)
            shutil.copy(path, self.path / name)
        path, = work.rglob("libld.so.*")
        later.append(_LOADERS[self.processor])
        shutil.copy(path, self.path / later[-1])
        shutil.rmtree(work)
        # GCC 12 assumes that libc.so.6 contains these.
        later = " ".join(str(self.path / name) for name in later)
        early = " ".join(str(self.path / name) for name in ("libc.so.6", "libcompat.a", "libc_nonshared.a"))
        (self.path / "libc.so").write_text(f"GROUP ( {early} AS_NEEDED ( {later} ) )\n")
        (self.path / "libm.so").write_text(f"INPUT ( {self.path}/libm.so.6 )\n")

    def add_compat(self):
        write_names(self.path / "names.h")
        self.archive("compat", self.gcc, [_SOURCES / "packaging" / "glibc_compat.c"], "-fvisibility=hidden",
                     "-std=c11", "-Wall", "-Wextra", "-I", self.path)

    def archive(self, name, compiler, sources, *options):
        made = [self.path / f"{source.stem}.o" for source in sources]
        for source, one in zip(sources, made):
            run(compiler, *_FLAGS, *options, "-c", source, "-o", one)
        run(self.ar, "rcs", self.path / f"lib{name}.a", *made)
        for one in made:
            one.unlink()

    def add_libstdcxx(self):
        library = run(self.gxx, "-print-file-name=libstdc++.so.6").strip()
        static = run(self.gxx, "-print-file-name=libstdc++.a").strip()
        allowed = policy(self.version, self.processor)
        lines = run(self.readelf, "--dyn-syms", "--wide", library, env={**os.environ, "LC_ALL": "C"})
        source, kept = self.path / "libstdc++.s", {}
        # Num: Value Size Type Bind Visibility Index Name@@Version
        pattern = re.compile(
            r"\s*\d+:\s+\w+\s+(\w+)\s+(\w+)\s+(GLOBAL|WEAK|UNIQUE)\s+DEFAULT\s+\d+\s+([^@\s]+)@@?(\w+?)_([\w.]+)$")
        for line in lines.splitlines():
            match = pattern.match(line)
            if match and match[6] in allowed.get(match[5], ()) and match[2] != "NOTYPE":
                rank = tuple(int(part) if part.isdigit() else 0 for part in match[6].split("."))
                kept.setdefault(match[4], []).append((rank, f"{match[5]}_{match[6]}", match))
        source.write_text("".join(self.stub(name, found) for name, found in kept.items()))
        versions = sorted({version for found in kept.values() for _, version, _ in found})
        script = self.path / "libstdc++.map"
        script.write_text("".join(f"{version} {{ }};\n" for version in versions))
        run(self.gcc, "-shared", "-nostdlib", "-Wl,-soname,libstdc++.so.6", f"-Wl,--version-script={script}",
            "-fuse-ld=bfd", source, "-o", self.path / "libstdc++.so.6")
        source.unlink()
        script.unlink()
        (self.path / "libstdc++.so").write_text(f"INPUT ( {self.path}/libstdc++.so.6 {static} )\n")

    @staticmethod
    def stub(name, found):
        """The assembler of a symbol. Its newest version is the default, as when that one was the newest."""
        text = ""
        for index, (_, version, match) in enumerate(sorted(found, key=lambda one: one[0], reverse=True)):
            kind = {"OBJECT": "object", "FUNC": "function", "IFUNC": "function", "TLS": "tls_object"}[match[2]]
            label = f"ringlet_stub_{index}_{name}"
            section = {"object": ".data", "function": ".text",
                       "tls_object": '.section .tdata,"awT",%progbits'}[kind]
            binding = ".weak" if match[3] == "WEAK" else ".globl"
            text += (f"{section}\n{binding} {label}\n.type {label}, %{kind}\n.size {label}, {int(match[1], 0)}\n"
                     f"{label}: .zero {int(match[1], 0) if kind != 'function' else 4}\n"
                     f".symver {label}, {name}{'@' if index else '@@'}{version}, remove\n")
        return text

    def add_archives(self):
        sources = self.path / "sources"
        run(sys.executable, _SOURCES / "tools" / "debian.py", "sources", sources, "fmtlib", "highway")
        fmt, highway = sources / "fmtlib" / "source", sources / "highway" / "source"
        self.archive("fmt", self.gxx, [fmt / "src" / "format.cc"], "-std=c++17", "-I", fmt / "include")
        self.archive("hwy", self.gxx, [highway / "hwy" / "targets.cc", highway / "hwy" / "per_target.cc"],
                     "-std=c++17", "-I", highway)
        shutil.rmtree(sources)


def main():
    if sys.argv[1:2] == ["names"] and len(sys.argv) == 3:
        write_names(pathlib.Path(sys.argv[2]))
        return
    if len(sys.argv) != 4 or sys.argv[2] not in _LOADERS:
        sys.exit(__doc__)
    Folder(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()).make()


if __name__ == "__main__":
    main()
