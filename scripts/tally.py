#!/usr/bin/env python3
"""Sums JUnit result files and closes with one line `N passed, N failed`.

usage: tally.py [--status N] FOLDER NAME...

FOLDER/NAME.xml must exist for each NAME: a runner that left none counts as one
failure. Exits with 1 if anything failed or if nothing ran. With --status 1 at
least one failure must be in the files, else one is added: a runner said that it
failed.
"""

import argparse
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    """(passed, failed, skipped) of one result file."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="+")
    arguments = parser.parse_args()

    passed = failed = skipped = 0
    for name in arguments.names:
        try:
            counts = count(arguments.folder / f"{name}.xml")
        except (OSError, ElementTree.ParseError) as error:
            print(f"{name}: no results ({error})")
            failed += 1
            continue
        print(f"{name}: {counts[0]} passed, {counts[1]} failed, "
              f"{counts[2]} skipped")
        passed += counts[0]
        failed += counts[1]
        skipped += counts[2]
    if arguments.status and not failed:
        print("a test runner failed without naming a test")
        failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped"
          if skipped else f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
