"""Runs the tests of the training program that can have another outcome than before: trainer_tests.py PASSED JUNIT PYTEST...

The tests are in groups: one for each kind of data, one for the scripts of users, one for the processes of trainings, and the tests that several
kinds share. A group passes again without a run while nothing changed that it depends on. For this, the folder PASSED has a file for each group
and state of its files that passed.
PYTEST... is the command, which runs the tests of all other groups at once and writes JUNIT. TRAINER_READS names the files and folders of the
repository that tests may read. FRESH=1 runs all groups.

A group of a kind depends on everything but the folders of the other kinds: kinds meet where they claim files, and the tests of that are shared.
The tests of processes, which are started, killed and resumed on a real Ray, train models of texts and depend on no other kind.
"""

import collections
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

KINDS, TESTS = "trainer/kinds", "trainer/tests"
EVERY_KIND = "test_every_kind"  # its tests belong to the kinds
SCRIPTS, PROCESSES = f"{TESTS}/script", f"{TESTS}/processes"
ZOO = f"{TESTS}/zoo"  # data sets that shared tests read
# Kinds whose code a group runs beside that of its own kind: the texts of nodes are read by a model of texts.
USES = {"graph": ("text",), "processes": ("text",)}
TOY = "toy"  # the kind that lives with the tests
PASSED, FAILED = 0, 1  # exit codes of pytest after a whole run
_TESTS_IMPORTED = re.compile(r"^\s*(?:from|import) (test_\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Group:
    """Some tests. ``tests`` are files and folders, ``independent_of`` those that they do not depend on. ``kind`` is empty for other groups."""

    name: str
    tests: tuple[str, ...]
    independent_of: tuple[str, ...]
    kind: str = ""

    def key(self, root: Path, reads: Iterable[str], command: Iterable[str]) -> str:
        """Equal while the command and everything that the tests depend on stay as they are."""
        sums = hashlib.sha256("\0".join((*command, *self.tests, self.kind)).encode())
        for file in _files(root, reads):
            name = file.relative_to(root).as_posix()
            if not any(name == left or name.startswith(f"{left}/") for left in self.independent_of):
                sums.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
        return f"{self.name}-{sums.hexdigest()[:16]}"


def groups(root: Path) -> list[Group]:
    """The groups of the tests below ``root``, the shared tests last."""
    shared = {f.stem: f for f in sorted((root / TESTS).glob("test_*.py")) if f.stem != EVERY_KIND}
    kinds = sorted(f.parent.name for f in (root / KINDS).glob("*/kind.py"))
    folders = {kind: (f"{KINDS}/{kind}", f"{TESTS}/kinds/{kind}") for kind in kinds} | {TOY: (f"{TESTS}/toy", f"{TESTS}/kinds/{TOY}")}
    listed = []
    for kind in folders:
        others = (other for other in folders if other not in (kind, *USES.get(kind, ())))
        tests = f"{TESTS}/kinds/{kind}"
        left = [folder for other in others for folder in folders[other]]
        unused = _files_of(shared.keys() - _used(shared, (root / tests).glob("*.py")))
        every_kind = [tests] * (root / tests).is_dir() + [*_files_of([EVERY_KIND])]
        listed.append(Group(kind, tuple(every_kind), (*left, *unused, SCRIPTS, PROCESSES, ZOO), kind))
    for name, tests, others in (("scripts", SCRIPTS, PROCESSES), ("processes", PROCESSES, SCRIPTS)):
        unused = [folder for kind, of_kind in folders.items() if kind not in USES.get(name, ()) for folder in of_kind]
        listed.append(Group(name, (tests,), (*unused, f"{TESTS}/kinds", *_files_of([*shared, EVERY_KIND]), others, ZOO)))
    listed.append(Group("shared", _files_of(shared), (f"{TESTS}/kinds", *_files_of([EVERY_KIND]), SCRIPTS, PROCESSES)))
    return listed


def _files_of(modules: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{TESTS}/{module}.py" for module in sorted(modules))


def _used(shared: dict[str, Path], files: Iterable[Path]) -> set[str]:
    """The modules of shared tests from which these files take something, and those from which such a module does so."""
    found: set[str] = set()
    left = list(files)
    while left:
        imported = set(_TESTS_IMPORTED.findall(left.pop().read_text())) & shared.keys() - found
        found |= imported
        left += (shared[module] for module in imported)
    return found


def main(passed: Path, junit: Path, command: list[str]) -> int:
    """Run what has to run, print a line for each group, and return the exit code of pytest."""
    root = Path.cwd()
    reads = os.environ["TRAINER_READS"].split()
    keys = {group: group.key(root, reads, command) for group in groups(root)}
    due = [group for group, key in keys.items() if os.environ.get("FRESH") or not (passed / key).is_file()]
    for group, key in keys.items():
        if group not in due:
            print(f"{group.name}: {(passed / key).read_text()} (earlier; nothing that they depend on has changed. FRESH=1 runs them again)")
    if not due:
        return PASSED
    print(f"running the tests of {', '.join(group.name for group in due)}", flush=True)
    tests = list(dict.fromkeys(test for group in due for test in group.tests))
    kinds = ",".join(group.kind for group in due if group.kind)
    code = subprocess.run([*command, "--junitxml", str(junit), f"--kinds={kinds}", *tests]).returncode
    outcomes = _outcomes(junit, due) if code in (PASSED, FAILED) else {}
    passed.mkdir(parents=True, exist_ok=True)
    for group in due:
        tests_run, failures, seconds = outcomes.get(group.name, (0, 0, 0.0))
        line = f"{tests_run} tests, {seconds:.0f} s"
        print(
            f"{group.name}: {line}, {failures} failed" if failures else f"{group.name}: {line}" if tests_run else f"{group.name}: not run to the end"
        )
        if tests_run and not failures and group.key(root, reads, command) == keys[group]:  # otherwise nobody knows what was tested
            (passed / keys[group]).write_text(line)
    return code


def _outcomes(junit: Path, due: list[Group]) -> dict[str, tuple[int, int, float]]:
    """For each group the tests that were run, those of them that failed, and the sum of their seconds."""
    found: dict[str, tuple[int, int, float]] = collections.defaultdict(lambda: (0, 0, 0.0))
    for case in ElementTree.parse(junit).iter("testcase"):
        name = _group_of(case.attrib["classname"], case.attrib["name"], due)
        tests, failures, seconds = found[name]
        failed = any(child.tag in ("failure", "error") for child in case)
        found[name] = tests + 1, failures + failed, seconds + float(case.attrib["time"])
    return found


def _group_of(module: str, test: str, due: list[Group]) -> str:
    """The name of the group of a test. ``module`` is its file, and its class if it has one, with dots."""
    path = module.replace(".", "/")
    if path == f"{TESTS}/{EVERY_KIND}":
        return test.rpartition("[")[2].removesuffix("]").partition("-")[0]
    own = (group.name for group in due if any(path.startswith(f"{t.removesuffix('.py')}/") or path == t.removesuffix(".py") for t in group.tests))
    return next(own, "")


def _files(root: Path, reads: Iterable[str]) -> Iterator[Path]:
    """All files that ``reads`` names, and those below its folders, in order; none that is hidden or compiled."""
    for name in sorted(reads):
        place = root / name
        if not place.exists():
            sys.exit(f"TRAINER_READS names {name}, which is not there")
        below = [place] if place.is_file() else sorted(place.rglob("*"))
        yield from (f for f in below if f.is_file() and not any(p == "__pycache__" or p.startswith(".") for p in f.relative_to(root).parts))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]))
