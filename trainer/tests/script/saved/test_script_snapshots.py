"""Snapshots: what is taken and when, what a later start gets, and files that are torn, hostile, or change under the hand."""

import hashlib
import io
import json
import os
import struct
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from trainer.run_folder import lease as leases
from trainer.run_folder.events import Events
from trainer.script.saved import checkpoint_names, copying, restoring, snapshots, whole_files
from trainer.script.saved.snapshots import Snapshots

CODE = b"print()\n"


def zipped(content: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as z:
        z.writestr(zipfile.ZipInfo("state"), content)
    return made.getvalue()


def tensors(values: int) -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [values], "data_offsets": [0, 4 * values]}}).encode()
    return struct.pack("<Q", len(header)) + header + b"\0" * (4 * values)


class Start:
    """A start of a script: its tree, its snapshots, and what it found again."""

    def __init__(self, run: Path, seconds: float):
        self.run = run
        self.now = 0.0
        self.lease = leases.take(run / "work", keep="tree")
        restoring.set_aside(self.lease)
        self.tree = self.lease.folder / "tree"
        self.tree.mkdir()
        (self.tree / "train.py").write_bytes(CODE)
        placed = {"train.py": SimpleNamespace(size=len(CODE), sha256=hashlib.sha256(CODE).hexdigest())}
        self.found = restoring.restore(run, self.lease, self.tree, placed)
        spec = SimpleNamespace(folder=run, script=SimpleNamespace(checkpoint_seconds=seconds, limits=SimpleNamespace(files=1000)))
        self.snapshots = Snapshots(spec, self.lease, self.tree, Events(run / "events.jsonl", 1), placed, lambda: self.now)

    def write(self, **files: bytes | str) -> "Start":
        """Write files; in the names __ stands for a slash and _o_ for a point."""
        for name, content in files.items():
            self.put(name.replace("__", "/").replace("_o_", "."), content)
        return self

    def put(self, path: str, content: bytes | str) -> None:
        there = self.tree / path
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(content.encode() if isinstance(content, str) else content)

    def take(self) -> int | None:
        self.now += 100
        return self.snapshots.take()

    def saved(self) -> dict[str, bytes]:
        """The files of the newest snapshot."""
        folder = restoring.numbered(self.run / "checkpoints")[0][1] / "files"
        return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    def has(self) -> dict[str, bytes]:
        return {p.relative_to(self.tree).as_posix(): p.read_bytes() for p in self.tree.rglob("*") if p.is_file() and p.name != "train.py"}


@pytest.fixture
def start(tmp_path):
    """start() is the next start of one run."""
    return lambda seconds=1.0: Start(tmp_path, seconds)


def test_a_new_checkpoint_is_taken_with_what_is_beside_it(start):
    one = start().write(out__ckpt_o_pt=zipped("1"), out__log_o_csv="a,b", __pycache____train_o_pyc="x", out__ckpt_o_tmp="x")
    assert one.take() == 1
    assert one.saved() == {"out/ckpt.pt": zipped("1"), "out/log.csv": b"a,b"}
    assert one.take() is None
    one.put("out/log.csv", "a,b,c")
    assert one.take() is None  # no checkpoint has changed


def test_nothing_is_taken_without_a_checkpoint(start):
    one = start().write(out__log_o_csv="a,b", data__train_o_bin="123", meta_o_pkl=b"\x80\x04.", processed__data_o_pt=zipped("1"))
    assert [one.take(), one.take()] == [None, None]
    assert start().found is None


def test_the_next_snapshot_waits_for_its_time(start):
    one = start(60.0).write(ckpt_o_pt=zipped("1"))
    assert one.snapshots.take() == 1
    one.write(ckpt_o_pt=zipped("2"))
    one.now = 59.0
    assert one.snapshots.take() is None
    one.now = 60.0
    assert one.snapshots.take() == 2


def test_two_snapshots_are_kept_and_share_what_did_not_change(start):
    one = start().write(big_o_pt=zipped("x" * 1000))
    for number in range(1, 5):
        one.put(f"step_{number}.pt", zipped(str(number)))
        assert one.take() == number
    kept = restoring.numbered(one.run / "checkpoints")
    assert [number for number, _ in kept] == [4, 3]
    assert len({(place / "files" / "big.pt").stat().st_ino for _, place in kept}) == 1


def test_a_later_start_gets_the_files_with_their_times(start):
    one = start().write(out__ckpt_o_pt=zipped("1"), out__log_o_csv="a")
    os.utime(one.tree / "out" / "ckpt.pt", (1000, 1000))
    one.take()
    (one.lease.folder / "tree.ready").unlink()  # as if the machine was lost before
    two = start()
    assert two.found == restoring.Restored("out/ckpt.pt", None, 1, False, 2)
    assert two.has() == {"out/ckpt.pt": zipped("1"), "out/log.csv": b"a"}
    assert (two.tree / "out" / "ckpt.pt").stat().st_mtime == 1000
    two.put("out/ckpt.pt", b"the script may write to its copy")
    assert two.saved()["out/ckpt.pt"] == zipped("1")


TORN = {
    "cut": zipped("2")[:-10],
    "empty": b"",
    "without its beginning": b"\0" * 200,
}


@pytest.mark.parametrize("torn", TORN.values(), ids=TORN)
def test_a_torn_checkpoint_is_never_taken_and_never_given_back(start, torn):
    one = start().write(out__ckpt_o_pt=zipped("1"))
    one.take()
    one.write(out__ckpt_o_pt=torn, out__log_o_csv="a")
    assert one.take() is None
    two = start()
    assert (two.found.path, two.found.number, two.found.from_tree) == ("out/ckpt.pt", 1, False)
    assert two.has() == {"out/ckpt.pt": zipped("1")}


def test_a_torn_checkpoint_beside_a_new_one_is_taken_from_the_snapshot_before(start):
    one = start().write(last_o_pt=zipped("1"))
    one.take()
    one.put("last.pt", b"PK\x03\x04")
    one.put("step_10.pt", zipped("10"))
    assert one.take() == 2
    assert one.saved() == {"last.pt": zipped("1"), "step_10.pt": zipped("10")}


def test_files_of_one_step_are_taken_together_or_not_at_all(start):
    one = start().write(model_o_pt=zipped("m1"), optimizer_o_pt=zipped("o1"))
    one.take()
    one.put("model.pt", zipped("m2"))
    one.put("optimizer.pt", zipped("o2")[:-5])
    two = start()
    assert two.has() == {"model.pt": zipped("m1"), "optimizer.pt": zipped("o1")}


def test_what_a_dead_start_saved_last_is_found_in_its_tree(start):
    one = start().write(ckpt_o_pt=zipped("1"))
    one.take()
    one.write(ckpt_o_pt=zipped("2"), log_o_csv="later")
    two = start()
    assert two.found == restoring.Restored("ckpt.pt", None, 1, True, 2)
    assert two.has() == {"ckpt.pt": zipped("2"), "log.csv": b"later"}
    assert not list(two.lease.folder.glob("earlier-*"))


def test_of_a_torn_tree_whole_numbered_checkpoints_are_taken(start):
    one = start().write(ckpt_10_o_pt=zipped("10"))
    one.take()
    one.write(ckpt_20_o_pt=zipped("20"), ckpt_30_o_pt=b"PK\x03\x04", note_o_txt="x")
    two = start()
    assert (two.found.path, two.found.step) == ("ckpt_20.pt", 20)
    assert set(two.has()) == {"ckpt_10.pt", "ckpt_20.pt"}


def test_a_start_that_died_while_its_tree_was_filled_passes_on_what_it_found(start):
    start().write(ckpt_o_pt=zipped("1"))
    two = leases.take(start().run / "work", keep="tree")  # the second start has filled its tree, the third dies before
    assert list(two.folder.glob("earlier-*"))
    four = start()
    assert (four.found.path, four.found.from_tree) == ("ckpt.pt", True)
    assert four.has() == {"ckpt.pt": zipped("1")}


def test_a_script_that_was_killed_before_its_first_checkpoint_begins_in_a_clean_folder(start):
    start().write(out__events_o_out="x", out__ckpt_o_pt=b"PK\x03\x04")
    two = start()
    assert two.found is None and two.has() == {}


def test_a_folder_of_hugging_face_counts_once_its_last_file_is_there(start):
    one = start()
    one.put("out/checkpoint-5/model.safetensors", tensors(3))
    one.put("out/checkpoint-5/optimizer.pt", zipped("o"))
    assert one.take() is None  # it may still get files
    one.put("out/checkpoint-5/trainer_state.json", '{"global_step": 5}')
    assert one.take() == 1
    one.put("out/checkpoint-10/model.safetensors", tensors(3))
    one.put("out/checkpoint-10/optimizer.pt", zipped("o"))
    two = start()
    assert (two.found.path, two.found.step) == ("out/checkpoint-5", 5)
    assert not any("checkpoint-10" in path for path in two.has())
    two.put("out/checkpoint-10/trainer_state.json", "{}")
    two.put("out/checkpoint-10/model.safetensors", tensors(3))
    assert start().found.step == 10


def test_a_format_without_a_proof_must_not_change_between_two_looks(start):
    one = start().write(model_o_joblib=b"\x80\x04 and so on")
    assert one.take() is None
    one.write(model_o_joblib=b"\x80\x04 and so on, longer")
    assert one.take() is None
    assert one.take() == 1


def test_a_file_that_changes_while_it_is_copied_is_left_for_the_next_look(start, monkeypatch):
    one = start().write(ckpt_o_pt=zipped("1"))
    transfer = copying._transfer

    def slow(source, made, size):
        found = transfer(source, made, size)
        one.put("ckpt.pt", zipped("22"))
        return found

    monkeypatch.setattr(copying, "_transfer", slow)
    assert one.take() is None
    monkeypatch.undo()
    assert one.take() == 1
    assert one.saved() == {"ckpt.pt": zipped("22")}
    assert not [p for p in one.lease.folder.iterdir() if p.name.startswith("snapshot-")]


def test_a_full_disk_is_one_warning(start, monkeypatch):
    one = start().write(ckpt_o_pt=zipped("1"))
    monkeypatch.setattr(snapshots.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    assert [one.take(), one.take()] == [None, None]
    events = [json.loads(line) for line in (one.run / "events.jsonl").read_text().splitlines()]
    assert [e.get("code") for e in events] == ["snapshot_space"]


def test_a_damaged_snapshot_is_deleted_and_the_one_before_it_used(start):
    one = start().write(ckpt_o_pt=zipped("1"))
    one.take()
    one.write(ckpt_o_pt=zipped("2"))
    one.take()
    (one.run / "checkpoints" / "000002" / "files" / "ckpt.pt").write_bytes(zipped("3"))
    (one.lease.folder / "tree.ready").unlink()
    two = start()
    assert two.found.number == 1 and two.has() == {"ckpt.pt": zipped("1")}
    assert [number for number, _ in restoring.numbered(one.run / "checkpoints")] == [1]


def test_a_start_without_the_lease_takes_no_snapshot(start):
    one = start().write(ckpt_o_pt=zipped("1"))
    start()
    one.put("ckpt.pt", zipped("2")) if one.tree.exists() else None
    with pytest.raises(leases.LeaseLost) if one.tree.exists() else pytest.MonkeyPatch().context():
        assert one.take() is None
    assert restoring.numbered(one.run / "checkpoints") == []


def test_links_pipes_and_second_names_are_never_followed(start, tmp_path):
    secret = tmp_path / "secret.pt"
    secret.write_bytes(zipped("secret"))
    one = start().write(ckpt_o_pt=zipped("1"))
    (one.tree / "link.pt").symlink_to(secret)
    os.link(secret, one.tree / "second.pt")
    os.mkfifo(one.tree / "pipe.pt")
    (one.tree / "loop").symlink_to(".")
    one.take()
    assert one.saved() == {"ckpt.pt": zipped("1")}
    two = start()
    (two.tree / "out").symlink_to(tmp_path)
    assert two.has()["ckpt.pt"] == zipped("1")


def test_a_restored_file_never_goes_through_a_link_in_the_tree(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "tree").mkdir()
    (tmp_path / "from" / "data").mkdir(parents=True)
    (tmp_path / "from" / "data" / "ckpt.pt").write_bytes(b"x")
    (tmp_path / "tree" / "data").symlink_to(tmp_path / "outside")
    copying.copy(tmp_path / "from", "data/ckpt.pt", tmp_path / "tree", "data/ckpt.pt")
    assert not list((tmp_path / "outside").iterdir())
    with pytest.raises(ValueError, match="leaves its folder"):
        copying.copy(tmp_path / "from", "../from/data/ckpt.pt", tmp_path / "tree", "x")


def arrays(**values) -> bytes:
    made = io.BytesIO()
    np.savez(made, **values) if values else np.save(made, np.arange(10))
    return made.getvalue()


WHOLE = {
    "a.pt": zipped("1"),
    "a.safetensors": tensors(5),
    "a.npz": arrays(x=np.arange(3)),
    "a.npy": arrays(),
    "a.json": b'{"step": 5}',
    "a.pkl": b"\x80\x04N.",
}


@pytest.mark.parametrize(("name", "content"), WHOLE.items(), ids=WHOLE)
def test_every_cut_of_a_file_is_seen(tmp_path, name, content):
    def verdict(data: bytes) -> str:
        (tmp_path / name).write_bytes(data)
        with open(tmp_path / name, "rb") as f:
            return whole_files.judge(f.fileno(), name, len(data))

    assert verdict(content) == whole_files.WHOLE
    if name != "a.pt":
        assert verdict(content + b"more") == whole_files.TORN
    cut = [verdict(content[:n]) for n in range(0, len(content), 1 + len(content) // 40)]
    assert whole_files.WHOLE not in cut
    assert whole_files.UNKNOWN not in cut[3:]


@pytest.mark.parametrize(
    "hostile", [b"\xff" * 8, struct.pack("<Q", 1 << 62), b"PK\x03\x04" + b"PK\x05\x06" * 9, b"\x93NUMPY\x01\0\xff\xff", b"[" * 99999]
)
@pytest.mark.parametrize("name", ["a.pt", "a.safetensors", "a.npy", "a.json", "a.h5", "a.bin"])
def test_no_content_makes_the_look_fail(tmp_path, name, hostile):
    (tmp_path / name).write_bytes(hostile)
    with open(tmp_path / name, "rb") as f:
        assert whole_files.judge(f.fileno(), name, len(hostile)) in (whole_files.TORN, whole_files.UNKNOWN)


UNITS = {
    "out/ckpt.pt": ("out", (), False),
    "model_20.pt": ("", (20,), False),
    "epoch=3-step=120.ckpt": ("", (3, 120), False),
    "out/checkpoint-500/rng_state.pth": ("out/checkpoint-500", (), True),
    "out/checkpoint-500/sub/model.bin": ("out/checkpoint-500", (), True),
    "lightning_logs/version_0/checkpoints/epoch=0-step=1.ckpt": ("lightning_logs/version_0/checkpoints", (0, 1), False),
    "tmp-checkpoint-500/x.txt": None,
    "data/shakespeare_char/train.bin": None,
    "train.bin": None,
    "pytorch_model.bin": ("", (), False),
    "out/ckpt.pt.tmp": None,
    "notes.txt": None,
    "state.json": ("", (), False),
}


@pytest.mark.parametrize(("path", "unit"), UNITS.items(), ids=UNITS)
def test_which_files_are_checkpoints_and_which_belong_together(path, unit):
    found = checkpoint_names.unit_of(path)
    assert (None if found is None else (found.place, found.numbers, found.is_folder)) == unit
