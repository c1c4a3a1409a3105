"""python -m ringlet: prints the installation and the machine, for problem reports."""

import argparse
import json

from ringlet.environment import as_text, collect_env


def main():
    parser = argparse.ArgumentParser(
        prog="python -m ringlet", description="Prints the installation of Ringlet and the machine, for reports "
        "of problems. Secrets are left out.", epilog="example: python -m ringlet --json | jq .torch")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    found = collect_env()
    print(json.dumps(found) if parser.parse_args().json else as_text(found))


if __name__ == "__main__":
    main()
