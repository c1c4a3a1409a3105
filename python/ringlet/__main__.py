"""python -m ringlet: prints the installation and the machine, for problem reports; with a command, runs the tool."""

import argparse
import json
import sys

from ringlet import _tool
from ringlet.environment import as_text, collect_env


def main():
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        _tool.main()  # does not return
    parser = argparse.ArgumentParser(
        prog="python -m ringlet", description="Prints the installation of Ringlet and the machine, for reports "
        "of problems. Secrets are left out. With a command, such as `bench`, runs the tool `ringlet`.",
        epilog="example: python -m ringlet --json | jq .torch")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    found = collect_env()
    print(json.dumps(found) if parser.parse_args().json else as_text(found))


if __name__ == "__main__":
    main()
