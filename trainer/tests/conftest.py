"""Shared fixtures: a builder of run folders, and the contract's schemas as a judge of what a run wrote."""

import hashlib
import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest
from hypothesis import settings
from referencing import Registry, Resource

TRAINER = Path(__file__).resolve().parent.parent
ROOT = TRAINER.parent
SCHEMAS = TRAINER / "schema"
GOLDEN = SCHEMAS / "golden"
REVIEWS = ROOT / "test" / "dataset" / "reviews"

sys.path.insert(0, str(ROOT))
# Several processes run tests side by side. Threads of their libraries would only wait for each other, and spin while they wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Ray's workers are other processes: they find the package by this.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))

# A change is judged by the same examples as the change before it. `make fuzz` searches new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile(os.environ.get("TRAINER_EXAMPLES", "same"))

# The defaults of the form, as the service writes them.
DEFAULTS = {
    "task": "auto", "model": "auto", "data_file": "", "text_column": "", "label_column": "", "epochs": 3, "batch_size": 32,
    "learning_rate": 0, "max_length": 0, "num_workers": 0, "use_gpu": "auto", "max_minutes": 60, "seed": 42, "run_name": "",
}  # fmt: skip


# These files start first, so that none of them runs alone at the end: one process of pytest-xdist runs all tests of a file.
SLOWEST = [
    "test_every_kind.py",
    "test_ray.py",
    "test_ray_workers.py",
    "test_resume.py",
    "test_table_runs.py",
    "test_search.py",
    "test_script_ray.py",
    "test_base_model.py",
    "test_lease.py",
    "test_trees.py",
    "test_hostile.py",
    "test_graph_runs.py",
    "test_estimator_runs.py",
    "test_answer.py",
    "test_options.py",
    "test_scratch.py",
    "test_language.py",
]


def pytest_addoption(parser):
    parser.addoption("--kinds", default="", help="Of the tests of every kind only those of these kinds, separated by commas")


def pytest_collection_modifyitems(config, items):
    if chosen := config.getoption("kinds"):
        kinds = chosen.split(",")
        items[:] = [i for i in items if i.path.name != "test_every_kind.py" or i.callspec.params["kind"].partition("-")[0] in kinds]
    place = {name: number for number, name in enumerate(SLOWEST)}
    items.sort(key=lambda item: place.get(item.path.name, len(SLOWEST)))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    from trainer import gc_pause

    with gc_pause.importing():
        return (yield)


def pytest_configure(config):
    config.addinivalue_line("markers", "ray: needs a real Ray, which the test starts")
    if declared := os.environ.get("TRAINER_READS"):
        sys.addaudithook(_only(declared.split()))


def _only(declared: list[str]):
    """An audit hook under which the tests read files of this repository only where the Makefile says so: it does not run them again while these
    files stay as they are."""
    house, hidden, files = f"{ROOT}/", f"{ROOT}/.", tuple(f"{ROOT}/{name}" for name in declared)

    def check(event: str, details: tuple) -> None:
        if event != "open" or not isinstance(details[0], str) or (details[2] or 0) & os.O_ACCMODE != os.O_RDONLY:
            return
        if details[1] is None and not details[0].startswith("/"):  # os.open, which may be below any folder
            return
        name = os.path.abspath(details[0])
        folder, compiled, file = name.rpartition("/__pycache__/")
        if compiled:
            name = f"{folder}/{file.partition('.')[0]}.py"
        if name.startswith(house) and not name.startswith((*files, hidden)):
            raise RuntimeError(f"the tests read {name}, which is not in TRAINER_READS of the Makefile")

    return check


@pytest.fixture(scope="session")
def schemas():
    """name -> validator of trainer/schema/<name>.schema.json."""
    documents = {p.name: json.loads(p.read_text()) for p in SCHEMAS.glob("*.schema.json")}
    registry = Registry().with_resources((name, Resource.from_contents(d)) for name, d in documents.items())
    return {n.removesuffix(".schema.json"): jsonschema.Draft202012Validator(d, registry=registry) for n, d in documents.items()}


@pytest.fixture
def make_run(tmp_path, schemas):
    """make_run(files, **parameters) makes a run folder on this test's shared volume and returns its spec.json.

    ``files`` maps names in the dataset to bytes, text, or a path to copy from. ``more`` goes into the spec as it is, for
    example model and champion.
    """

    from trainer.config import older_spec

    def make(
        files: dict, run: str = "ft-test", attempt: int = 1, kind: str = "train", more: dict | None = None, defaults=DEFAULTS, **parameters
    ) -> Path:
        folder = tmp_path / "shared" / "runs" / run
        (folder / "inputs").mkdir(parents=True, exist_ok=True)
        inputs = []
        for i, (name, content) in enumerate(files.items()):
            data = content.read_bytes() if isinstance(content, Path) else content.encode() if isinstance(content, str) else content
            target = folder / "inputs" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            inputs.append({"id": f"file{i}", "name": name, "path": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()})
        older = {
            "schema": older_spec.SCHEMA, "kind": kind, "run": run, "attempt": attempt, "dataset": {"id": "d1", "name": "A dataset"},
            "parameters": parameters, "defaults": defaults if kind == "train" else {}, "inputs": inputs, **(more or {}),
        }  # fmt: skip
        spec = older_spec.upgraded(older, folder / "inputs")
        schemas["spec"].validate(spec)
        (folder / "spec.json").write_text(json.dumps(spec))
        return folder / "spec.json"

    return make


@pytest.fixture
def networks_only(monkeypatch):
    """There are no estimators, so a run trains a network, also where none is named."""
    from trainer.core import registry

    registry.estimators()  # which stay known by their names
    for kind in registry.kinds().values():
        monkeypatch.setattr(type(kind), "estimators", ())


@pytest.fixture
def lone_network(monkeypatch):
    """A run does nothing beside the training of its network: see ``lone_networks``."""
    import lone_networks

    lone_networks.let_be_alone(monkeypatch.setattr)


@pytest.fixture
def reviews():
    """The bundled dataset as files of a run."""
    return {"train.csv": REVIEWS / "train.csv", "test.csv": REVIEWS / "test.csv"}


@pytest.fixture
def told_at(monkeypatch):
    """told_at(spec, step, command) lets the stop file appear while a training in this process makes that step."""
    from trainer.run_folder import files
    from trainer.train import consensus, loop

    def at(spec: Path, step: int, command: str) -> None:
        real = loop.Training._step

        def stepping(training):
            if training.at.step + 1 == step:
                files.write_text(spec.parent / "stop", f"{command}\n")
            return real(training)

        monkeypatch.setattr(loop.Training, "_step", stepping)
        monkeypatch.setattr(consensus, "LOOK_SECONDS", 0.0)

    return at


def events_of(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def small_reviews(rows: int = 120) -> str:
    """The first rows of the bundled training file."""
    return "".join((REVIEWS / "train.csv").read_text().splitlines(keepends=True)[: rows + 1])


def resumed_at(folder: Path) -> list[int]:
    """The steps from which a run went on."""
    return [e["step"] for e in events_of(folder) if e["kind"] == "resume"]
