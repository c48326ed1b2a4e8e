"""Which Go tests on real parts run again after a change: test/setup/real_tests.py on a small repository."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

SCRIPT = ROOT / "test" / "setup" / "real_tests.py"
FILES = ["internal/a.go", "trainer/run.py", "trainer/kinds/image/kind.py", "trainer/kinds/rows/reading.py", "trainer/tests/test_run.py", "docs/a.md"]
ALL = ["./test/e2e", "./internal/queue", "./test/studio"]
COMMAND = "import sys; open('asked', 'w').write(' '.join(sys.argv[1:]))"


@pytest.fixture
def repository(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("asked\npassed\n")
    return tmp_path


def ran(repository, command: str = COMMAND, code: int = 0, **environment) -> list[str]:
    full = [sys.executable, SCRIPT, "passed", sys.executable, "-c", command, "+++", *ALL, ALL[0]]
    inherited = {name: value for name, value in os.environ.items() if name != "FRESH"}
    assert subprocess.run(full, cwd=repository, env={**inherited, **environment}).returncode == code
    return (repository / "asked").read_text().split()


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ("trainer/kinds/image/kind.py", ["./test/e2e", "./test/studio"]),
        ("trainer/tests/test_run.py", ["./test/e2e", "./test/studio"]),
        ("docs/a.md", ["./test/e2e", "./test/studio"]),
        ("trainer/kinds/rows/reading.py", ALL),
        ("trainer/run.py", ALL),
        ("internal/a.go", ALL),
        ("internal/new.go", ALL),
    ],
)
def test_a_change_in_a_kind_runs_what_trains(repository, changed, runs):
    assert ran(repository) == ALL
    (repository / changed).write_text("2")
    assert ran(repository) == runs


def test_what_failed_or_changed_under_the_tests_runs_again(repository):
    ran(repository, f"{COMMAND}; sys.exit(3)", code=3)
    ran(repository, f"{COMMAND}; open('internal/a.go', 'a').write('#')")
    assert ran(repository) == ALL
    assert ran(repository, FRESH="1") == ALL
