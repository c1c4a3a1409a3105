#!/usr/bin/env python3
"""Checks that each promise of the documents has a test.

    tools/promises.py            # findings; exits 1 if there are any
    tools/promises.py --list     # every sentence that promises something, with what holds it

A sentence of README.md or a page of docs counts as a promise if it contains always, never, all,
every, none, nothing or must. Either a table of docs/contributing/testing.md names it with the test
that tries to break it, or tools/promises_other.txt names it with the reason why it is not a
promise. Both name a sentence by its file and a part of its text. An entry without a sentence, and a
test missing in the sources, are findings too. The script does not search tables: their rows
describe, and that of docs/reference/faults.md names its own tests.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = re.compile(r"(?<![\w`-])(?:always|never|all|every|none|nothing|must)(?![\w`-])", re.I)
ROW = re.compile(r"^\| (?P<part>[^|]+) \| (?P<file>[^|]+\.md) \| (?P<tests>[^|]+) \|$", re.M)
TEST_FILES = ("src/**/*_test.cpp", "test/**/*_test.cpp", "test/**/*_test.py", "test/torch/*.py",
              "tools/*_test.py", "test/**/CMakeLists.txt")


def sentences(text):
    """Yields the sentences of a document, without its code. Tables stay as they are."""
    text = re.sub(r"^```.*?^```", "\n\n", text, flags=re.S | re.M)
    text = re.sub(r"^(?:    |\t).*$", "\n", text, flags=re.M)
    for block in re.split(r"\n\s*\n|\n(?=[#|]|\s*(?:[*-]|\d+\.) )", text):
        block = re.sub(r"\s+", " ", block).strip()
        if not block.startswith(("#", "|")):
            yield from filter(None, re.split(r"(?<=[.:;!?])\s+(?=[A-Z`*(\"])", block))


def pages(root):
    """README.md and the pages of docs, without dated ones: decisions and figures."""
    docs = root / "docs"
    return [root / "README.md", *(path for path in sorted(docs.rglob("*.md"))
                                  if docs / "decisions" not in path.parents
                                  and path != docs / "performance.md")]


def promises(root):
    """Yields (file, sentence) of each possible promise."""
    for path in pages(root):
        for sentence in sentences(path.read_text(encoding="utf-8")):
            if WORDS.search(re.sub(r"`[^`]*`", "", sentence)):
                yield path.relative_to(root).as_posix(), sentence


def table(root):
    """Returns (file, part, tests) of the table in docs/contributing/testing.md."""
    text = (root / "docs" / "contributing" / "testing.md").read_text(encoding="utf-8")
    return [(match["file"].strip(), match["part"].strip(),
             re.findall(r"`([^`]+)`", match["tests"])) for match in ROW.finditer(text)]


def others(root):
    """Returns (file, part, reason) of tools/promises_other.txt: `file: part # reason`."""
    path, found = root / "tools" / "promises_other.txt", []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        if line and not line.startswith("#"):
            name, _, rest = line.partition(": ")
            part, _, reason = rest.rpartition(" # ")
            found.append((name, part, reason))
    return found


def test_names(root):
    """Returns Suite.Test of GoogleTest, test_names of Python, and the tests registered by CMake."""
    names = set()
    for pattern in TEST_FILES:
        for path in root.glob(pattern):
            text = path.read_text(encoding="utf-8", errors="replace")
            names |= {f"{suite}.{name}" for suite, name in re.findall(
                r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", text)}
            names |= {f"{path.stem}.{name}" for name in re.findall(r"def (test_\w+)\(", text)}
            names |= set(re.findall(r"add_test\(NAME ([\w.]+)", text))
            names |= {f"static.{name}" for name in re.findall(r"static_test\((\w+)", text)}
    names |= {f"install.{path.stem}" for path in root.glob("test/install/*.sh")}
    return names


def check(root):
    found = list(promises(root))
    rows, rest, names = table(root), others(root), test_names(root)
    findings = []
    held = [(name, part) for name, part, _ in rows + rest]
    for name, sentence in found:
        if not any(name == file and (part == "*" or part in sentence) for file, part in held):
            findings.append(f"{name}: no test is named for: {sentence}")
    for name, part in held:
        if not any(name == file and (part == "*" or part in sentence) for file, sentence in found):
            findings.append(f"{name}: no sentence of promise has: {part}")
    for name, part, tests in rows:
        if not tests:
            findings.append(f"docs/contributing/testing.md: no test for: {part}")
        findings += [f"docs/contributing/testing.md: no such test: {test}" for test in tests
                     if test not in names]
    findings += [f"tools/promises_other.txt: no reason for: {part}"
                 for _, part, reason in rest if len(reason) < 4]
    return findings


def main(arguments):
    if arguments == ["--list"]:
        for name, sentence in promises(ROOT):
            print(f"{name}: {sentence}")
        return 0
    if arguments:
        print("usage: tools/promises.py [--list]", file=sys.stderr)
        return 2
    findings = check(ROOT)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
