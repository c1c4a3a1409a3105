#!/usr/bin/env python3
"""Lists tests that did not run within passed tests, with the reasons. Exits 77 if there are any;
ctest then shows "Skipped", and lists it among the tests that did not run.

    skipped.py     run by ctest after all other tests; see cmake/RingletTestRun.cmake
"""
import json
import os
import pathlib
import sys
import xml.etree.ElementTree as xml


def of_gtest(report):
    for case in xml.parse(report).getroot().iter("testcase"):
        for skipped in case.iter("skipped"):
            why = (skipped.get("message") or skipped.text or "no reason given").strip()
            # GoogleTest writes the file first.
            why = why.splitlines()[-1] if why.splitlines() else why
            yield f"{case.get('classname')}.{case.get('name')}", why


def main():
    folder = os.environ.get("TEST_REPORTS") or sys.exit("TEST_REPORTS is not set: run this by ctest")
    skipped = set()
    for report in pathlib.Path(folder).iterdir():
        if report.suffix == ".xml":
            try:
                skipped.update(of_gtest(report))
            except xml.ParseError:
                pass  # of a failed test
        elif report.suffix == ".json":
            skipped.update(map(tuple, json.loads(report.read_text())))
        report.unlink()
    for name, why in sorted(skipped):
        print(f"NOT RUN {name}: {why}")
    sys.exit(77 if skipped else 0)


main()
