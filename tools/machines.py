#!/usr/bin/env python3
"""Makes the named machines of the folder machines from the real topology files.

    tools/machines.py TOOL           # writes machines/NAME.xml for each row of machines/README.md
    tools/machines.py TOOL --check   # lists the differing ones; exits 1 if any

TOOL is the command ringlet. Its `topo complete` reads, completes and writes each file.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MACHINES = ROOT / "machines"
FIXTURES = ROOT / "test" / "fixtures" / "topologies"
TIMEOUT_S = 60


def rows():
    """Yields the name, source and options of each machine in the table."""
    text = (MACHINES / "README.md").read_text(encoding="utf-8")
    table = text[text.index("## Sources"):]
    for line in re.findall(r"^\| (?!name )(.+) \|$", table, re.M):
        name, _, source, options, licence, origin = (cell.strip() for cell in line.split("|"))
        assert licence and origin, name
        yield name, FIXTURES / f"{source}.topo.xml", options.split()


def made(tool, source, options):
    return subprocess.run([tool, "topo", "complete", source, *options], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    known, wrong = set(), []
    for name, source, words in rows():
        path = MACHINES / f"{name}.xml"
        known.add(path)
        text = made(options.tool, source, words)
        if not options.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            wrong.append(f"{path}: not what `topo complete {source.name} {' '.join(words)}` makes")
    wrong += [f"{path}: not in the table" for path in MACHINES.glob("*.xml") if path not in known]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
