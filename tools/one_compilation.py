#!/usr/bin/env python3
"""Checks that the library and the Python package compile each source by the same command.

    tools/one_compilation.py [CMAKE_OPTION...]

The script configures the preset `release` and the build of the Python package, each in a temporary
folder, and compares their compile commands and the contents of their units. A difference makes a
compiler cache miss, and `./ringlet.sh demo` compiles the library twice. Only the sources of the
extensions themselves (module.cpp) may be in the package alone. Both configurations receive
CMAKE_OPTION.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TORCH_VERSION = "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 13\n"


def configure(folder, options):
    """The compile commands of a configuration: {source: (command, text of the unit)}."""
    done = subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cmake failed:\n{done.stdout}{done.stderr}")
    commands = {}
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        text = source.read_text() if "/Unity/" in entry["file"] else ""
        commands[entry["file"].replace(str(folder), "BUILD")] = (
            entry["command"].replace(str(folder), "BUILD"), text.replace(str(folder), "BUILD"))
    return commands


def package_options(folder):
    """The options of pyproject.toml, with a package `torch` that contains only a version."""
    version = folder / "torch" / "include" / "torch" / "headeronly" / "version.h"
    version.parent.mkdir(parents=True)
    version.write_text(TORCH_VERSION)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    return [f"-DCMAKE_BUILD_TYPE={settings['cmake']['build-type']}", f"-DRINGLET_TORCHES={folder / 'torch'}",
            *(f"-D{name}={value}" for name, value in settings["cmake"]["define"].items())]


def differences(library, package):
    """The sources that the package and the library compile differently, with both commands."""
    found = []
    for source, (command, text) in sorted(package.items()):
        if source.endswith("/module.cpp"):
            continue
        if source not in library:
            found.append(f"{source} is compiled for the Python package alone")
        elif library[source][0] != command:
            found.append(f"{source} is compiled by two commands:\n  {library[source][0]}\n  {command}")
        elif library[source][1] != text:
            found.append(f"{source} has other sources in the Python package than in the library")
    return found


def main():
    with tempfile.TemporaryDirectory(prefix="ringlet-compile-") as temporary:
        folder = pathlib.Path(temporary)
        library = configure(folder / "library", ["--preset", "release", "-DRINGLET_TESTS=OFF", *sys.argv[1:]])
        package = configure(folder / "package", [*package_options(folder), *sys.argv[1:]])
    found = differences(library, package)
    if len(package) < 20:
        found.append(f"the Python package has only {len(package)} compile commands")
    print(*found, sep="\n")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
