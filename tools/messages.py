#!/usr/bin/env python3
"""Keeps all user texts in one file, so that reviews show each change of wording.

    tools/messages.py            # prints differences from test/static/messages.txt; exits 1 if any
    tools/messages.py --update   # writes that file

A text is a string with a space in src or include, outside tests: errors, log lines, help, settings.
Adjacent strings are joined. One line per text, by source; {} stands for a value.
"""
import argparse
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "test" / "static" / "messages.txt"
TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<skip>^[ \t]*#[ \t]*include[^\n]*)"
    r'|R"(?P<mark>[^()\s\\]{0,16})\((?P<raw>.*?)\)(?P=mark)"'
    r'|"(?P<text>(?:\\.|[^"\\\n])*)"'
    r"|(?P<char>(?<![0-9A-Fa-f'])'(?:\\.|[^'\\\n])+')"
    r"|(?P<space>\s+)|(?P<other>.)", re.S | re.M)


def texts(source):
    """Yields the strings of a source in order, with adjacent ones joined."""
    joined = None
    for match in TOKEN.finditer(source):
        words = match["text"] if match["text"] is not None else match["raw"]
        if words is not None:
            joined = (joined or "") + words.replace("\n", "\\n")
        elif match["other"] or match["char"] or match["skip"]:
            if joined is not None:
                yield joined
            joined = None
    if joined is not None:
        yield joined


def is_text(words):
    return " " in words.strip() and re.search(r"[A-Za-z]{2}", words) is not None


def render(root):
    lines = []
    for folder in ("include", "src"):
        for path in sorted((root / folder).rglob("*.?pp")):
            if re.search(r"_(?:test|fuzz|bench|for_test)$", path.stem):
                continue
            found = [words for words in texts(path.read_text(encoding="utf-8")) if is_text(words)]
            if found:
                lines += [f"# {path.relative_to(root).as_posix()}", *found, ""]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the file")
    arguments = parser.parse_args()
    lines = render(ROOT)
    if arguments.update:
        GOLDEN.write_text("\n".join(lines), encoding="utf-8")
        return 0
    kept = GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.is_file() else []
    difference = list(difflib.unified_diff(kept, "\n".join(lines).splitlines(), "kept", "now",
                                           lineterm="", n=1))
    if not difference:
        return 0
    print("\n".join(difference))
    print("Texts changed. If they read well: tools/messages.py --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
