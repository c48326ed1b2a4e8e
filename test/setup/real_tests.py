"""Runs the Go tests on real parts: real_tests.py PASSED COMMAND... +++ PACKAGE...

COMMAND runs the tests of the packages that are added to it. All packages run each time, with one exception: while they have passed and nothing
but the folders of kinds of data, the tests of the trainer and documents have changed since, only those packages run that train or answer with
the trainer. For this, the folder PASSED has a file for each state of the other files that passed. FRESH=1 runs all.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

TRAIN = ("./test/e2e", "./test/studio")  # packages whose tests run the code of kinds
WITHOUT = ("trainer/tests/", "docs/", "CHANGELOG.md")


def key(root: Path) -> str:
    """Equal while all files stay as they are that the other packages depend on."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, check=True)
    kinds = tuple(f"{f.parent.relative_to(root).as_posix()}/" for f in root.glob("trainer/kinds/*/kind.py"))
    sums = hashlib.sha256()
    for name in sorted(filter(None, listed.stdout.decode().split("\0"))):
        file = root / name
        if not name.startswith((*WITHOUT, *kinds)) and file.is_file():
            sums.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return f"real-parts-{sums.hexdigest()[:16]}"


def main(passed: Path, command: list[str], packages: list[str]) -> int:
    """Run the packages that are due, and return the exit code of the command."""
    stamp = passed / key(Path.cwd())
    due = packages
    if stamp.is_file() and not os.environ.get("FRESH"):
        due = [p for p in packages if p in TRAIN]
        print(
            f"{len(packages) - len(due)} packages passed earlier, and nothing that they depend on has changed. FRESH=1 runs them again.", flush=True
        )
    code = subprocess.run([*command, *due]).returncode
    if code == 0 and due == packages and stamp == passed / key(Path.cwd()):
        passed.mkdir(parents=True, exist_ok=True)
        stamp.touch()
    return code


if __name__ == "__main__":
    split = sys.argv.index("+++")
    # Each package once; the order says which begins first.
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:split], list(dict.fromkeys(sys.argv[split + 1 :]))))
