"""The folders that a script sees, and the files that are taken from them afterwards."""

import os

import pytest
from scripts import SPEC

from trainer.config import spec as specs
from trainer.config.jail import Limits
from trainer.errors import UserError
from trainer.script import collect, environment, tree
from trainer.script.command import Nodes

LARGE = b"x" * (tree.COPIED_BYTES + 1)


@pytest.fixture
def place(make_run, tmp_path):
    """place(files, visible) gives the tree, the home and what was placed."""

    def make(files: dict, visible: bool = True):
        spec = specs.load(make_run(files, kind="script", more={"script": SPEC}))
        there, home = tmp_path / "start" / "tree", tmp_path / "start" / "home"
        return there, home, tree.place(spec, there, home, tree.texts(spec), visible)

    return make


def test_code_and_small_files_are_copies_and_the_rest_are_links(place):
    there, _, placed = place({"train.py": "x", "a/small.csv": "1", "large.bin": LARGE, "big.py": LARGE, "out/old.pt": LARGE})
    assert (there / "train.py").read_text() == "x"
    assert not (there / "train.py").is_symlink()
    assert not (there / "a" / "small.csv").is_symlink()
    assert os.readlink(there / "large.bin") == "/clowder/inputs/large.bin"
    assert not (there / "big.py").is_symlink()
    assert not (there / "out" / "old.pt").is_symlink()  # the script may write to it
    assert [path for path, file in placed.files.items() if not file.copied] == ["large.bin"]


def test_data_is_the_folder_of_the_dataset_or_everything_that_is_no_code(place):
    there, _, _ = place({"train.py": "", "data/train.csv": "1", "more.csv": "2"})
    assert sorted(p.name for p in (there / "data").iterdir()) == ["train.csv"]


def test_without_a_data_folder_there_is_one_with_links(place):
    there, _, _ = place({"train.py": "", "requirements.txt": "", "train.csv": "1", "x/y.csv": "2"})
    assert sorted(p.relative_to(there / "data").as_posix() for p in (there / "data").rglob("*")) == ["train.csv", "x", "x/y.csv"]
    assert os.readlink(there / "data" / "train.csv") == "/clowder/inputs/train.csv"


def test_without_a_sandbox_the_links_lead_to_the_files(place):
    there, _, _ = place({"train.py": "", "large.bin": LARGE}, visible=False)
    assert (there / "large.bin").read_bytes() == LARGE
    assert (there.parent / "data" / "large.bin").read_bytes() == LARGE


def test_other_systems_find_their_places(place):
    there, home, placed = place({"train.py": "open('/kaggle/input/titanic/x.csv')", "data/test/x.csv": "1", "keras-datasets/mnist.npz": "z"})
    links = dict(placed.links)
    assert links["/opt/ml/input/data/test"] == "/home/user/run/data/test"
    assert links["/opt/ml/input/data/training"] == "/home/user/run/data"
    assert links["/kaggle/input/titanic"] == "/home/user/run/data"
    assert "/kaggle/input" not in links
    assert os.readlink(home / ".keras" / "datasets" / "mnist.npz") == "/clowder/inputs/keras-datasets/mnist.npz"
    assert list((there / "out").iterdir()) == []


def test_a_script_that_names_the_model_folder_finds_it(place):
    there, _, _ = place({"train.py": "torch.save(m, os.environ['SM_MODEL_DIR'] + '/m.pt')"})
    assert [p.name for p in (there / "out").iterdir()] == ["model"]


def test_a_file_and_a_folder_of_one_name_are_refused(place):
    with pytest.raises(UserError, match="called out"):
        place({"train.py": "", "out": "1"})


def taken(there, target, placed, patterns="", limits=None):
    found, left = collect.outputs(there, target, placed, patterns, limits or Limits())
    for entry in found:
        assert (target / entry["path"]).stat().st_size == entry["size"]
    return [e["path"] for e in found], {e["path"]: e["reason"] for e in left}


def test_what_is_new_or_changed_is_delivered(place, tmp_path):
    there, _, placed = place({"train.py": "x", "a.csv": "1", "large.bin": LARGE})
    (there / "out" / "metrics.json").write_text("{}")
    (there / "a.csv").write_text("2")
    (there / "logs").mkdir()
    (there / "logs" / "x.log").write_text("l")
    for skipped in ("__pycache__/a.pyc", "wandb/run", "x.tmp"):
        (there / skipped).parent.mkdir(exist_ok=True)
        (there / skipped).write_text("s")
    assert taken(there, tmp_path / "out", placed.files) == (["a.csv", "logs/x.log", "metrics.json"], {})


def test_what_is_no_plain_file_is_listed_and_never_opened(place, tmp_path):
    there, _, placed = place({"train.py": ""})
    secret = tmp_path / "secret"
    secret.write_text("s")
    (there / "link").symlink_to(secret)
    os.link(secret, there / "hard")
    os.mkfifo(there / "out" / "pipe")
    (there / "folder").symlink_to(tmp_path)
    found, left = taken(there, tmp_path / "out", placed.files)
    assert found == []
    assert left.keys() == {"link", "hard", "out/pipe", "folder"}


def test_the_largest_files_are_left_out_first(place, tmp_path):
    there, _, placed = place({"train.py": ""})
    for name, size in (("big", 100), ("small", 10), ("middle", 50)):
        (there / name).write_bytes(b"x" * size)
    found, left = taken(there, tmp_path / "out", placed.files, limits=Limits(output_bytes=70))
    assert found == ["middle", "small"]
    assert "limit" in left["big"]


@pytest.mark.parametrize(
    ("patterns", "found"),
    [("*.pt", ["a.pt", "x/b.pt"]), ("out", ["c.txt"]), ("out/** a.pt", ["a.pt", "c.txt"]), ("nothing", [])],
)
def test_patterns_choose_what_is_delivered(place, tmp_path, patterns, found):
    there, _, placed = place({"train.py": ""})
    (there / "x").mkdir()
    for name in ("a.pt", "x/b.pt", "out/c.txt", "d.txt"):
        (there / name).write_text("1")
    assert taken(there, tmp_path / "out", placed.files, patterns)[0] == found


def test_of_numbered_checkpoints_the_last_one_is_delivered(place, tmp_path):
    there, _, placed = place({"train.py": ""})
    for number in (5, 10, 9):
        (there / "out" / f"checkpoint-{number}").mkdir()
        (there / "out" / f"checkpoint-{number}" / "model.safetensors").write_text(str(number))
    found, left = taken(there, tmp_path / "out", placed.files)
    assert found == ["checkpoint-10/model.safetensors"]
    assert left.keys() == {"out/checkpoint-5", "out/checkpoint-9"}


def test_names_that_would_collide_keep_their_folder(place, tmp_path):
    there, _, placed = place({"train.py": ""})
    (there / "model.pt").write_text("1")
    (there / "out" / "model.pt").write_text("2")
    assert taken(there, tmp_path / "out", placed.files)[0] == ["model.pt", "out/model.pt"]


def test_the_environment_has_the_names_of_other_systems_and_no_secret(monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    context = environment.Context("ft-x", 2, 3, Nodes(), cpus=4, gpus=("0",), channels=("test",), packages=True, keras_on_torch=True)
    found = environment.variables(context, ["--lr", "1"], {"lr": "1"})
    assert found["SM_CHANNEL_TEST"] == "/home/user/run/data/test"
    assert found["SM_HPS"] == '{"lr": "1"}'
    assert found["AIP_MODEL_DIR"] == found["SM_MODEL_DIR"] == "/home/user/run/out/model"
    assert found["PYTHONPATH"] == "/clowder/packages:/clowder/support"
    assert (found["KERAS_BACKEND"], found["OMP_NUM_THREADS"], found["TORCHELASTIC_RESTART_COUNT"]) == ("torch", "4", "2")
    assert "RANK" not in found
    assert not [name for name in found if name.startswith("RAY")]
    several = environment.variables(environment.Context("ft-x", 1, 1, Nodes(2, 2, 1, "10.0.0.7"), cpus=4), [], {})
    assert (several["MASTER_ADDR"], several["PET_NODE_RANK"], several["SM_CURRENT_HOST"], several["OMP_NUM_THREADS"]) == (
        "10.0.0.7",
        "1",
        "algo-2",
        "2",
    )
