#!/usr/bin/env python3
"""Writes NOTICE: the licenses of the code of others that wheels and programs contain.

    tools/notice.py --write    # from /usr/share/doc/PACKAGE/copyright; run it on Debian 12
    tools/notice.py --check    # findings; exits 1 if there are any

The check compares the table below with the packages of a build in tools/packages.sh, and NOTICE with the licenses
and the holders in Debian's copyright files, as far as they are installed. tools/sbom.py reads the table.
"""
import pathlib
import re
import sys
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = pathlib.Path("/usr/share/doc")


class Component(typing.NamedTuple):
    package: str  # Debian's
    name: str
    license: str  # SPDX
    form: str  # how wheels and programs contain it
    url: str


COMPONENTS = (
    Component("libfmt-dev", "fmt", "MIT", "library", "https://github.com/fmtlib/fmt"),
    Component("libsodium-dev", "libsodium", "ISC", "library", "https://github.com/jedisct1/libsodium"),
    Component("libhwy-dev", "Highway", "Apache-2.0", "library", "https://github.com/google/highway"),
    Component("libpugixml-dev", "pugixml", "MIT", "library", "https://github.com/zeux/pugixml"),
    Component("nlohmann-json3-dev", "JSON for Modern C++", "MIT", "headers", "https://github.com/nlohmann/json"),
    Component("libcli11-dev", "CLI11", "BSD-3-Clause", "headers", "https://github.com/CLIUtils/CLI11"),
)
DEBIAN_NAMES = {"MIT": "Expat", "ISC": "ISC", "Apache-2.0": "Apache-2.0", "BSD-3-Clause": "BSD-3-clause"}
# Folders of a source that no program contains.
ASIDE = re.compile(r"(debian|docs?|tests?|tools|support|cmake|m4|examples|\.github)/|\S*\.(rst|m4)$|\S*configure\S*$"
                   r"|Makefile\S*$|\S*(depcomp|missing|ltmain|compile|install-sh|config\.\w+)\S*$")
HEAD = """Ringlet contains code of others. Its Debian packages contain the headers and need the libraries.
Its wheels contain both, and parts of GCC's libstdc++ and libgcc (GPL-3.0-or-later WITH
GCC-exception-3.1). The list of contents (SBOM) of a release has the versions. LICENSE is the
complete text of Apache-2.0.

tools/notice.py wrote this file from the copyright files of Debian 12.
"""


def stanzas(text):
    """Yields the paragraphs of a copyright file as dicts of fields."""
    for block in re.split(r"\n\s*\n", text):
        fields = re.findall(r"^([A-Z][\w-]*):[ \t]*(.*(?:\n[ \t].*)*)", block, re.M)
        if fields:
            yield dict(fields)


def contained(text):
    """Returns (holders, license) of the sources in a program, and the texts of the licenses that they name."""
    files, texts = [], {}
    for fields in stanzas(text):
        name, _, body = fields.get("License", "").partition("\n")
        if body.strip() and "Same as above" not in body:
            texts.setdefault(name.strip(), re.sub(r"\n( \.\n)? On Debian systems[\s\S]*", "", body))
        if "Files" in fields and not all(map(ASIDE.match, fields["Files"].split())):
            files.append(([line.strip() for line in fields["Copyright"].splitlines() if re.search("[0-9]", line)],
                          name.strip()))
    return files, texts


def holder(line):
    """Returns a copyright line without years and addresses."""
    return re.sub(r"^(?:©|Copyright)?[\s\d,–-]*|\s*<.*", "", line).strip(" ,.")


def section(component):
    files, texts = contained((DOC / component.package / "copyright").read_text("utf-8"))
    lines = [f"{component.name}, {component.url}", f"License: {component.license}. Contained as {component.form}.", ""]
    for line in dict.fromkeys(line for holders, _ in files for line in holders):
        lines.append(f"Copyright {line}")
    for name in dict.fromkeys(name for _, name in files):
        body = next((text for known, text in texts.items() if known == name), None)
        if body:
            lines += ["", f"{name}:", *(line[1:].rstrip() if line.strip() != "." else "" for line in body.split("\n"))]
    return "\n".join(lines)


def findings(notice, packages, doc):
    build = packages.partition("build_packages='")[2].partition("'")[0]
    needed = set(re.findall(r"^(lib[\w-]+-dev|nlohmann\S+)", build, re.M))
    for package in sorted(needed ^ {one.package for one in COMPONENTS}):
        yield f"tools/notice.py and tools/packages.sh differ in {package}"
    for one in COMPONENTS:
        if f"{one.name}, {one.url}\nLicense: {one.license}." not in notice:
            yield f"NOTICE has no section of {one.name}: run tools/notice.py --write"
        path = doc / one.package / "copyright"
        if not path.is_file():
            continue
        files, _ = contained(path.read_text("utf-8"))
        if not files[0][1].startswith(DEBIAN_NAMES[one.license]):
            yield f"{one.name} is under {files[0][1]} in {path}, and the table has {one.license}"
        for line in sorted({line for holders, _ in files for line in holders}):
            if holder(line) and holder(line) not in notice:
                yield f"NOTICE lacks {holder(line)}, a holder in {path}"


def main(arguments):
    if arguments == ["--write"]:
        rule = "\n" + "-" * 80 + "\n"
        (ROOT / "NOTICE").write_text(rule.join([HEAD, *map(section, COMPONENTS)]).rstrip() + "\n", "utf-8")
        return 0
    if arguments != ["--check"]:
        print("usage: tools/notice.py --write|--check", file=sys.stderr)
        return 2
    found = list(findings((ROOT / "NOTICE").read_text("utf-8"), (ROOT / "tools/packages.sh").read_text("utf-8"), DOC))
    print("\n".join(found) or f"NOTICE has {len(COMPONENTS)} components")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
