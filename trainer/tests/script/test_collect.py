"""What a script leaves: which files are delivered, under which names, and why others are not."""

import hashlib
import os

import pytest

from trainer.config.jail import Limits
from trainer.script import collect
from trainer.script.tree import File


def file_of(data: bytes) -> File:
    return File(len(data), hashlib.sha256(data).hexdigest(), True)


@pytest.fixture
def deliver(tmp_path):
    """deliver(files, patterns) makes a tree of these files and gives (delivered path -> content, left out path -> reason)."""

    def run(files: dict[str, str], patterns: str = "", placed: dict[str, str] | None = None, most: int = 0):
        tree, target = tmp_path / "tree", tmp_path / "target"
        for name, content in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(content)
        given = {name: file_of(content.encode()) for name, content in (placed or {}).items()}
        taken, left = collect.outputs(tree, target, given, patterns, Limits(output_bytes=most))
        for entry in taken:
            data = (target / entry["path"]).read_bytes()
            assert (entry["size"], entry["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
        there = {p.relative_to(target).as_posix(): p.read_text() for p in target.rglob("*") if p.is_file()}
        assert list(there) == [] or sorted(there) == [e["path"] for e in taken]
        return there, {e["path"]: e["reason"] for e in left}

    run.tree = tmp_path / "tree"
    return run


@pytest.mark.parametrize(
    ("files", "patterns", "placed", "delivered", "left"),
    [
        pytest.param({"out/model.pt": "m", "log.csv": "l"}, "", {}, {"model.pt", "log.csv"}, {}, id="everything new"),
        pytest.param({"train.py": "same", "new.txt": "n"}, "", {"train.py": "same"}, {"new.txt"}, {}, id="not what is as it was"),
        pytest.param({"train.py": "changed"}, "", {"train.py": "before!"}, {"train.py"}, {}, id="what the script changed"),
        pytest.param({"out/a.txt": "1", "a.txt": "2"}, "", {}, {"out/a.txt", "a.txt"}, {}, id="two files of one name keep their folders"),
        pytest.param({"out/A.txt": "1", "a.txt": "2"}, "", {}, {"out/A.txt", "a.txt"}, {}, id="names that differ in capitals keep their folders"),
        pytest.param({"out/x": "1", "x/y": "2"}, "", {}, {"out/x", "x/y"}, {}, id="a file is no folder"),
        pytest.param({"a/__pycache__/x.pyc": "1", "core.5": "c", "b.tmp": "t", ".git/x": "g"}, "", {}, set(), {}, id="what nobody wants"),
        pytest.param(
            {"a.pt": "1", "b.csv": "2", "deep/c.pt": "3"}, "*.pt", {}, {"a.pt", "deep/c.pt"}, {"b.csv": "It does not match outputs."},
            id="a pattern of names",
        ),
        pytest.param({"a.pt": "1", "deep/c.pt": "3"}, "./deep/", {}, {"deep/c.pt"}, {"a.pt": "It does not match outputs."}, id="a folder"),
        pytest.param({"x/a.pt": "1", "y/a.pt": "3"}, "x/*.pt", {}, {"x/a.pt"}, {"y/a.pt": "It does not match outputs."}, id="a path"),
        pytest.param({"b.tmp": "t"}, "*.tmp", {}, {"b.tmp"}, {}, id="what is asked for is delivered"),
        pytest.param({"a.py": "p"}, "*.pt", {"a.py": "p"}, set(), {}, id="a file of the dataset is not missed"),
    ],
)  # fmt: skip
def test_what_is_delivered(deliver, files, patterns, placed, delivered, left):
    found, why = deliver(files, patterns, placed)
    assert set(found) == delivered
    assert why == left


def test_of_checkpoints_side_by_side_the_newest_is_delivered(deliver):
    found, why = deliver({"out/checkpoint-5/w": "5", "out/checkpoint-10/w": "10", "checkpoint-1/w": "1"})
    assert set(found) == {"checkpoint-10/w", "checkpoint-1/w"}
    assert why == {"out/checkpoint-5": "It is an older checkpoint."}


def test_a_limit_leaves_out_the_largest_files(deliver):
    found, why = deliver({"large": "x" * 50, "small": "x", "middle": "x" * 9}, most=10)
    assert set(found) == {"small", "middle"}
    assert why == {"large": "The outputs are larger than the limit."}


def test_a_file_of_the_dataset_takes_no_room(deliver):
    found, why = deliver({"a": "12345", "b": "67890"}, placed={"a": "12345"}, most=5)
    assert (set(found), why) == ({"b"}, {})


@pytest.mark.parametrize("name", ["a\nb", "a:b", "a\\b", "x" * 240 + "/" + "y" * 240 + "/" + "z" * 240 + "/" + "w" * 240])
def test_names_that_cannot_be_delivered(deliver, name):
    found, why = deliver({name: "1", "good": "2"})
    assert set(found) == {"good"}
    assert why == {name: "Its name has characters that cannot be delivered, or is too long."}


def test_of_names_that_differ_in_capitals_one_is_delivered(deliver):
    found, why = deliver({"Model.pt": "1", "model.pt": "2"})
    assert found == {"Model.pt": "1"}
    assert why == {"model.pt": "Another file has the same name but for capitals."}


def test_more_files_than_can_be_delivered(deliver, monkeypatch):
    monkeypatch.setattr(collect, "MAX_FILES", 2)
    found, why = deliver({"a": "1", "b": "2", "c": "3"})
    assert set(found) == {"a", "b"}
    assert why == {"c": "More than 2 files are not delivered: pack them into one."}


@pytest.mark.parametrize("kind", ["link", "pipe", "hard link"])
def test_what_is_no_file_of_its_own_is_never_opened(deliver, kind, tmp_path):
    deliver.tree.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("key")
    {"link": lambda p: p.symlink_to(secret), "pipe": os.mkfifo, "hard link": lambda p: os.link(secret, p)}[kind](deliver.tree / "x")
    found, why = deliver({"good": "1"})
    assert found == {"good": "1"}
    assert set(why) == {"x"} and why["x"]


def test_a_file_that_grows_while_it_is_copied_is_left_out(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a").write_text("12345")
    with pytest.raises(ValueError, match="a is being written"):
        collect._copy(tmp_path / "tree", "a", tmp_path / "target", "a", 4)
    assert list((tmp_path / "target").iterdir()) == []


def test_a_name_that_is_there_is_never_replaced(tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a").write_text("new")
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "a").write_text("old")
    with pytest.raises(FileExistsError):
        collect._copy(tmp_path / "tree", "a", tmp_path / "target", "a", 3)
    assert (tmp_path / "target" / "a").read_text() == "old"
