#!/usr/bin/env python3
"""Unpacks packages of Debian below a folder, also for another processor, without root.

    debian.py packages ARCHITECTURE FOLDER NAME...   FOLDER/usr/... of the packages and what they depend on
    debian.py sources FOLDER NAME...                 FOLDER/NAME: the source packages, with Debian's patches

The script uses the release and the mirrors of this machine, with apt's lists in FOLDER/apt. The
lists and packages of the machine stay unchanged.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys


class Apt:
    """apt-get with state below `folder`."""

    def __init__(self, folder, architecture):
        self.folder = folder / "apt"
        for name in ("sources", "lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        self._copy_sources()
        self.options = [f"-oDir::{key}={value}" for key, value in (
            ("State::Lists", self.folder / "lists"), ("State::status", self.folder / "status"),
            ("Cache", self.folder / "cache"), ("Etc::SourceList", "/dev/null"),
            ("Etc::SourceParts", self.folder / "sources"))]
        self.options += [f"-oAPT::Architecture={architecture}", f"-oAPT::Architectures::={architecture}",
                         "-oAPT::Sandbox::User=", "-oAcquire::Languages=none",
                         "-oDebug::NoLocking=1", "-oQuiet=1"]
        self("update")

    def _copy_sources(self):
        """Copies the sources of this machine, and adds their source packages."""
        etc = pathlib.Path("/etc/apt")
        lists = [*etc.glob("sources.list"), *(etc / "sources.list.d").iterdir()]
        for path in lists:
            text = path.read_text()
            if path.suffix == ".sources":
                text = re.sub(r"(?m)^Types:.*", "Types: deb deb-src", text)
            elif path.suffix == ".list":
                text += "\n" + re.sub(r"(?m)^deb(?= )", "deb-src", text)
            else:
                continue
            text = re.sub(r"(?m)^Architectures:.*\n", "", text)
            (self.folder / "sources" / path.name).write_text(text)

    def __call__(self, *arguments, folder=None):
        command = ["apt-get", *self.options, *arguments]
        done = subprocess.run(command, cwd=folder, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\ndebian.py: apt-get {' '.join(arguments)} failed; see above.")


def unpack_packages(architecture, folder, names):
    apt = Apt(folder, architecture)
    apt("install", "--download-only", "--no-install-recommends", "-y", *names)
    for package in sorted((apt.folder / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, folder], check=True)


def unpack_sources(folder, names):
    native = subprocess.run(["dpkg", "--print-architecture"], check=True, text=True, stdout=subprocess.PIPE)
    apt = Apt(folder, native.stdout.strip())
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
        apt("source", "--download-only", name, folder=folder / name)
        description, = (folder / name).glob("*.dsc")
        subprocess.run(["dpkg-source", "--no-check", "-x", description.name, "source"], check=True,
                       cwd=folder / name, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    packages = kinds.add_parser("packages")
    packages.add_argument("architecture")
    for kind in (packages, kinds.add_parser("sources")):
        kind.add_argument("folder", type=pathlib.Path)
        kind.add_argument("names", nargs="+")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    folder = given.folder.resolve()
    if given.kind == "packages":
        unpack_packages(given.architecture, folder, given.names)
    else:
        unpack_sources(folder, given.names)


if __name__ == "__main__":
    main()
