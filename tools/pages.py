#!/usr/bin/env python3
"""Compares the pages with the tree: names on the pages exist, and required names are on the pages.

    tools/pages.py            # findings, `file:line: reason`; exits 1 if there are any

* A link without an existing page, picture or heading.
* A setting or macro, RINGLET_X or NCCL_X, that is missing both in docs/reference/settings.md, the
  page generated from the registry, and in the sources.
* A missing page that a source or a tool names.
* A code block below `<!-- file: PATH -->` that differs from the file.
* A row `file` | `function` of a table without that function in the file.
* docs/reference/c-api.md: a function of nccl.h or nccl_device.h missing in its table, or a row
  without a function.
* docs/reference/errors.md: codes and exit statuses that differ from the sources.

test/docs/docs_test.py runs the commands of the pages. It needs the tool.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ("src", "include", "test", "tools", "cmake", "bench", "examples", "packaging", "python")
SOURCE_SUFFIXES = {".cpp", ".hpp", ".h", ".c", ".py", ".txt", ".cmake", ".sh", ".in", ".map"}
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
NAME = re.compile(r"(?<![\w$])(?:RINGLET|NCCL)_[A-Z][A-Z0-9_]*[A-Z0-9](?![\w*]|_\*)")
PAGE = re.compile(r"\bdocs/[\w./-]+?\.md\b")


def pages(root):
    named = [root / name for name in ("README.md", "CONTRIBUTING.md", "src/README.md",
                                      "bench/results/README.md")]
    return [path for path in named if path.is_file()] + sorted((root / "docs").rglob("*.md"))


def sources(root):
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and "fixtures" not in path.parts:
                yield path
    yield from (root / name for name in ("CMakeLists.txt", "ringlet.sh", "pyproject.toml")
                if (root / name).is_file())


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def without_code(text):
    """Returns the text with blanks for its code, so offsets stay."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", blank, re.sub(r"^(?:    |\t)(?! *[*-] ).*$", blank, text, flags=re.M))


def anchors(text):
    """Yields the names of the headings in the form of GitHub and mkdocs for plain words."""
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading).lower()
        yield re.sub(r"[ -]+", "-", re.sub(r"[^\w -]", "", plain).strip())


def check_links(path, text):
    for match in LINK.finditer(without_code(text)):
        target, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        there = (path.parent / target).resolve() if target else path
        if not there.exists():
            yield line_of(text, match.start()), f"the link {match[1]} leads nowhere"
        elif anchor and anchor not in anchors(there.read_text(encoding="utf-8")):
            yield line_of(text, match.start()), f"{match[1]}: there is no such heading"


def check_names(text, known):
    for match in NAME.finditer(text):
        if match[0] not in known and match[0].replace("NCCL_", "RINGLET_", 1) not in known:
            yield line_of(text, match.start()), f"{match[0]}: no source knows it"


def check_files(root, text):
    for match in re.finditer(r"^<!-- file: (\S+) -->\n```\w*\n(.*?)^```", text, re.S | re.M):
        path = root / match[1]
        if not path.is_file() or path.read_text(encoding="utf-8") != match[2]:
            yield line_of(text, match.start()), f"the code is not that of {match[1]}"


def check_functions(root, text):
    """Checks rows of a table `file` | `function`, ...: the file has the functions."""
    for match in re.finditer(r"^\| \d+ \| `(src/\S+)` \| (`[^|]*`) \|", text, re.M):
        path = root / match[1]
        source = path.read_text(encoding="utf-8") if path.is_file() else ""
        for name in re.findall(r"`(\w+)`", match[2]):
            if not re.search(rf"\b{name}\b", source):
                yield line_of(text, match.start()), f"{match[1]} has no {name}"


def check_c_api(root):
    headers = sorted((root / "include/ringlet/compat").glob("*.h"))
    header = "".join(path.read_text(encoding="utf-8") for path in headers)
    page = (root / "docs/reference/c-api.md").read_text(encoding="utf-8")
    declared = set(re.findall(r"^RINGLET_C_API [\w *]+?[ *](nccl\w+)\(", header, re.M))
    rows = re.findall(r"^\| `(nccl\w+)` \| *([^|]*?) *\| *([^|]*?) *\|", page, re.M)
    listed = {name for name, _, _ in rows}
    for name in sorted(declared - listed):
        yield f"docs/reference/c-api.md: {name} of nccl.h is missing"
    for name in sorted(listed - declared):
        yield f"docs/reference/c-api.md: nccl.h has no {name}"
    for name, version, status in rows:
        if not re.fullmatch(r"2\.\d+", version) or status not in ("works", "accepted", "refused"):
            yield f"docs/reference/c-api.md: {name}: a version and a status are needed"


def check_errors(root):
    page = (root / "docs/reference/errors.md").read_text(encoding="utf-8")
    status = (root / "include/ringlet/status.hpp").read_text(encoding="utf-8")
    tool = (root / "docs/reference/cli.md").read_text(encoding="utf-8")  # output of the tool
    codes = set(re.findall(r"^  (k[A-Z]\w+),", status, re.M))
    listed = set(re.findall(r"^\| `(k\w+)` \|", page, re.M))
    for name in sorted(codes ^ listed):
        yield f"docs/reference/errors.md: {name} is not in both the page and ringlet/status.hpp"
    exits = re.compile(r"^\| (\d\S*|N) \| ([^|]+) \|$", re.M)
    if exits.findall(tool) != exits.findall(page):
        yield "docs/reference/errors.md: the exit statuses are not those of docs/reference/cli.md"


def findings(root):
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in sources(root)}
    known = set(re.findall(r"RINGLET_\w+|NCCL_\w+", "\n".join(texts.values())))
    settings = (root / "docs/reference/settings.md").read_text(encoding="utf-8")
    known |= set(re.findall(r"^\| `(RINGLET_\w+)`", settings, re.M))
    for path in pages(root):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        found = [*check_links(path, text), *check_files(root, text), *check_functions(root, text)]
        if "decisions" not in path.parts:
            found += check_names(text, known)
        for number, why in found:
            yield f"{name}:{number}: {why}"
    for path, text in texts.items():
        if path.name.endswith("_test.py"):
            continue
        for match in PAGE.finditer(text):
            if not (root / match[0]).is_file():
                yield f"{path.relative_to(root)}:{line_of(text, match.start())}: there is no {match[0]}"
    yield from check_c_api(root)
    yield from check_errors(root)


def main():
    found = list(findings(ROOT))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
