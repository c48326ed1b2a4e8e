"""Prints how long the test suites of the last run took, and the slowest tests: durations.py FOLDER, which holds the JUnit files of the run."""

import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

MODULE = "github.com/ncsa/clowder-ray/"
SLOWEST = 20  # tests that are listed
LEAST_SECONDS = 1.0  # of a suite that is listed


def main(folder: Path) -> None:
    suites: dict[str, float] = defaultdict(float)
    tests: list[tuple[float, str]] = []
    for file in sorted(folder.glob("*.xml")):
        for suite in ElementTree.parse(file).iter("testsuite"):
            package = suite.attrib["name"].removeprefix(MODULE)
            in_go = package != "pytest"
            if in_go:  # the tests of a package run side by side: the sum of their times means nothing
                suites[package] += float(suite.attrib["time"])
            for case in suite.iter("testcase"):
                module = package if in_go else case.attrib["classname"].replace(".", "/") + ".py"
                seconds = float(case.attrib["time"])
                tests.append((seconds, f"{module} {case.attrib['name']}"))
                if not in_go:
                    suites[module] += seconds
    if not suites:
        sys.exit(f"There are no durations in {folder}: run make test first.")
    print("| suite | seconds |\n|---|---|")
    for name, seconds in sorted(suites.items(), key=lambda item: -item[1]):
        if seconds >= LEAST_SECONDS:
            print(f"| {name} | {seconds:.0f} |")
    short = [seconds for seconds in suites.values() if seconds < LEAST_SECONDS]
    print(f"| {len(short)} suites of less than {LEAST_SECONDS:g} s each | {sum(short):.0f} |")
    print(f"\nThe {SLOWEST} slowest tests:\n")
    for seconds, name in sorted(tests, reverse=True)[:SLOWEST]:
        print(f"{seconds:7.1f} s  {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
