"""Which tests of the training program run again after a change: test/setup/trainer_tests.py on a small repository, with a pytest that writes down
what it was to run."""

import json
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT, TRAINER

SCRIPT = ROOT / "test" / "setup" / "trainer_tests.py"
FILES = [
    "trainer/run.py", "trainer/kinds/image/kind.py", "trainer/kinds/graph/kind.py", "trainer/kinds/text/kind.py", "trainer/kinds/rows/reading.py",
    "trainer/tests/conftest.py", "trainer/tests/test_run.py", "trainer/tests/test_every_kind.py", "trainer/tests/kinds/graph/test_edges.py",
    "trainer/tests/script/test_lines.py", "trainer/tests/processes/test_kill.py",
    "trainer/tests/toy/kind.py", "trainer/tests/test_data.py", "trainer/tests/zoo/rows.py",
]  # fmt: skip
ALL = {"graph", "image", "processes", "scripts", "shared", "text", "toy"}
# Writes the options it gets, and a JUnit file in which the tests of FAILS fail.
PYTEST = """
import json, os, sys
junit, kinds, *tests = sys.argv[2:]
open("asked.json", "w").write(json.dumps([kinds, tests]))
if change := os.environ.get("CHANGES"):
    open(change, "a").write("#")
names = [(t.replace("/", ".").removesuffix(".py"), "test_a") for t in tests if "every_kind" not in t]
names = [(n if n.rpartition(".")[2].startswith("test_") else f"{n}.test_b", t) for n, t in names]
names += [("trainer.tests.test_every_kind", f"test_c[{k}]") for k in kinds.removeprefix("--kinds=").split(",") if k]
fails = os.environ.get("FAILS", "-")
cases = "".join(f'<testcase classname="{n}" name="{t}" time="2">' + "<failure/>" * (fails in n + t) + "</testcase>" for n, t in names)
open(junit, "w").write(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
sys.exit(int(os.environ.get("CODE", int(fails in str(names)))))
"""


@pytest.fixture
def repository(tmp_path):
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1\n")
    (tmp_path / "trainer/tests/kinds/graph/test_edges.py").write_text("from test_data import load\n")
    (tmp_path / "pytest.py").write_text(PYTEST)
    return tmp_path


@pytest.fixture
def ran(repository):
    """ran(code, **environment) makes a run that ends with this code, and returns the names of the groups that were run."""

    def groups(code: int = 0, **environment: str) -> set[str]:
        command = [sys.executable, str(SCRIPT), "passed", "junit.xml", sys.executable, "pytest.py"]
        environment = {**os.environ, "FRESH": "", **environment, "TRAINER_READS": "trainer"}
        done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        begun = next((line for line in done.stdout.splitlines() if line.startswith("running")), "")
        return set(begun.removeprefix("running the tests of ").split(", ")) - {""}

    return groups


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        pytest.param("trainer/kinds/image/kind.py", {"image", "shared"}, id="a kind"),
        pytest.param("trainer/kinds/text/kind.py", {"text", "graph", "processes", "shared"}, id="a kind that others use"),
        pytest.param("trainer/tests/kinds/graph/test_edges.py", {"graph"}, id="the tests of a kind"),
        pytest.param("trainer/tests/toy/kind.py", {"toy", "shared"}, id="the kind that lives with the tests"),
        pytest.param("trainer/kinds/rows/reading.py", ALL, id="code that kinds share"),
        pytest.param("trainer/tests/test_run.py", {"shared"}, id="a shared test"),
        pytest.param("trainer/tests/test_data.py", {"graph", "shared"}, id="a shared test that a test of a kind imports"),
        pytest.param("trainer/tests/zoo/rows.py", {"shared"}, id="a data set of the zoo"),
        pytest.param("trainer/tests/test_every_kind.py", {"graph", "image", "text", "toy"}, id="the tests of every kind"),
        pytest.param("trainer/run.py", ALL, id="shared code"),
        pytest.param("trainer/tests/script/test_lines.py", {"scripts"}, id="the tests of scripts"),
        pytest.param("trainer/tests/processes/test_kill.py", {"processes"}, id="the tests of processes"),
        pytest.param("trainer/__pycache__/run.pyc", set(), id="a compiled file"),
        pytest.param("trainer/.hidden", set(), id="a hidden file"),
        pytest.param("README.md", set(), id="a file that no test reads"),
    ],
)
def test_a_change_runs_the_groups_that_depend_on_it(repository, ran, changed, again):
    assert ran() == ALL
    assert ran() == set()
    file = repository / changed
    file.parent.mkdir(exist_ok=True)
    file.write_text("2\n")
    assert ran() == again
    assert ran() == set()


def test_the_tests_of_a_kind_are_its_folder_and_its_part_of_those_of_every_kind(repository, ran):
    ran()
    (repository / "trainer/tests/kinds/graph/test_edges.py").write_text("2\n")
    ran()
    assert json.loads((repository / "asked.json").read_text()) == ["--kinds=graph", ["trainer/tests/kinds/graph", "trainer/tests/test_every_kind.py"]]


@pytest.mark.parametrize(("fails", "group"), [("[image]", "image"), ("graph.test_b", "graph"), ("test_run", "shared"), ("script.test_b", "scripts")])
def test_only_the_group_of_a_failure_runs_again(ran, fails, group):
    assert ran(1, FAILS=fails) == ALL
    assert ran(1, FAILS=fails) == {group}
    assert ran() == {group}
    assert ran() == set()


def test_no_group_has_passed_in_a_run_that_was_interrupted(ran):
    assert ran(2, CODE="2") == ALL
    assert ran() == ALL


def test_no_group_has_passed_whose_files_change_meanwhile(ran):
    ran(CHANGES="trainer/kinds/image/kind.py")
    assert ran() == {"image", "shared"}


def test_all_groups_run_where_they_are_asked_to(ran):
    ran()
    assert ran(FRESH="1") == ALL


@pytest.mark.parametrize("folder", sorted((TRAINER / "tests" / "kinds").iterdir()), ids=lambda folder: folder.name)
def test_the_tests_of_a_kind_use_none_of_another_kind(folder):
    others = {f.stem for f in folder.parent.rglob("*.py") if f.parent != folder}
    assert not others & {module for file in folder.glob("*.py") for module in re.findall(r"^\s*(?:from|import) (\w+)", file.read_text(), re.M)}
