"""Which machine gets the most workers, what a worker used, and messages between processes."""

import json

import pytest

from trainer.launch.capacity import Machine, fullest
from trainer.launch.worker_log import _Prefixed
from trainer.run_folder.events import Events
from trainer.warm import place


def node(cpus: float, memory: int = 100, gpus: int = 0, store: int = 0) -> dict:
    return {"CPU": cpus, "memory": memory, "object_store_memory": store, **({"GPU": gpus} if gpus else {})}


@pytest.mark.parametrize(
    ("nodes", "workers", "cpus", "gpu", "machine"),
    [
        pytest.param([], 3, 1, False, Machine(3), id="a Ray that says nothing"),
        pytest.param([node(1)], 3, 1, False, Machine(3), id="one machine"),
        pytest.param([node(4, 400), node(2, 200)], 3, 1, False, Machine(3, 400), id="all fit on the largest"),
        pytest.param([node(4, 400), node(4, 300)], 3, 1, False, Machine(3, 300), id="the smaller memory of two that fit"),
        pytest.param([node(4, 400), node(2, 100)], 8, 1, False, Machine(4, 400), id="not all fit on one"),
        pytest.param([node(4), node(2)], 8, 2, False, Machine(2, 100), id="two CPUs each"),
        pytest.param([node(3.9), node(2)], 8, 2, False, Machine(1, 100), id="a part of a CPU is none"),
        pytest.param([node(0), node(0)], 2, 1, False, Machine(1), id="no room at all"),
        pytest.param([node(8, 100, gpus=1), node(8, 50, gpus=2)], 4, 1, True, Machine(2, 50), id="the machine with more GPUs"),
        pytest.param([node(1, 100, gpus=4), node(8, 50, gpus=2)], 4, 1, True, Machine(2, 50), id="GPUs without CPUs do not count"),
        pytest.param([node(4, 100, store=30), node(2)], 4, 1, False, Machine(4, 130), id="the memory of the object store counts"),
        pytest.param([node(4, 0), node(2, 0)], 4, 1, False, Machine(4, None), id="a machine that does not say its memory"),
        pytest.param([{}, {}], 2, 0, False, Machine(1), id="machines without resources"),
    ],
)
def test_the_machine_that_gets_the_most_workers(nodes, workers, cpus, gpu, machine):
    assert fullest(nodes, workers, cpus, gpu) == machine


class Written(list):
    def write(self, text):
        self.append(text)

    def flush(self):
        self.append("")

    encoding = "utf-8"


@pytest.mark.parametrize(
    ("texts", "written"),
    [
        (["a\n"], "[r] a\n"),
        (["a", "b\n", "c"], "[r] ab\n[r] c"),
        (["a\nb\n"], "[r] a\n[r] b\n"),
        (["\n\n"], "[r] \n[r] \n"),
        ([""], ""),
        (["a\n", "", "b"], "[r] a\n[r] b"),
    ],
)
def test_each_line_of_a_worker_begins_with_its_name(texts, written):
    out = Written()
    stream = _Prefixed(out, "[r] ")
    assert [stream.write(t) for t in texts] == [len(t) for t in texts]
    assert "".join(out) == written
    assert out.count("") >= len(texts) and stream.encoding == "utf-8"


@pytest.mark.parametrize(
    ("limit", "address", "wanted"),
    [("2", "ray:1", 2), ("0", "ray:1", 0), ("", "ray:1", 0), ("-1", "ray:1", 0), ("two", "ray:1", 0), ("2", "", 0), ("1.5", "ray:1", 0)],
)
def test_how_many_machines_may_have_a_warm_process(monkeypatch, limit, address, wanted):
    monkeypatch.setenv(place.LIMIT, limit)
    monkeypatch.setenv("RAY_ADDRESS", address)
    monkeypatch.delenv(place.POD, raising=False)
    assert place.wanted() == wanted
    assert place.is_used() is (wanted > 0)
    monkeypatch.setenv(place.POD, "ft-1")
    assert place.is_used()


def test_the_socket_differs_by_ray_pod_and_version(monkeypatch, tmp_path):
    monkeypatch.delenv(place.POD, raising=False)
    found = {place.socket("ray:1"), place.socket("ray:2"), place.socket("ray:1")}
    monkeypatch.setenv(place.POD, "ft-1")
    assert place.socket("ray:1") == place.socket("ray:2")
    found.add(place.socket(""))
    monkeypatch.setattr(place, "ROOT", tmp_path)
    found.add(place.socket(""))
    assert len(found) == 4
    assert {p.parent for p in found} == {place.folder()}


@pytest.mark.parametrize(
    ("mode", "private"), [(0o700, True), (0o600, True), (0o701, False), (0o710, False), (0o704, False), (0o770, False), (0o755, False)]
)
def test_only_a_folder_that_nobody_else_can_enter_is_private(tmp_path, mode, private):
    (tmp_path / "f").mkdir()
    (tmp_path / "f").chmod(mode)
    assert place.is_private(tmp_path / "f") is private


def test_a_file_a_link_and_nothing_are_no_private_folder(tmp_path):
    (tmp_path / "file").touch(0o600)
    (tmp_path / "folder").mkdir(0o700)
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    assert [place.is_private(tmp_path / n) for n in ("file", "link", "none", "folder")] == [False, False, False, True]


@pytest.mark.parametrize("content", ["", "x", "0", "12"])
def test_a_warm_process_that_is_gone_holds_nothing(tmp_path, content):
    path = tmp_path / "a.sock"
    assert place.holder(path) is None
    path.with_suffix(".pid").write_text(content)
    assert place.holder(path) is None


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ((1, 4, 5, 20), {"epoch": 1, "epochs": 4, "step": 5, "steps": 20, "fraction": 0.25}),
        ((2, 4, None, None), {"epoch": 2, "epochs": 4, "fraction": 0.5}),
        ((None, None, 7, None), {"step": 7}),
        ((5, 4, 30, 20), {"epoch": 5, "epochs": 4, "step": 30, "steps": 20, "fraction": 1.0}),
        ((0, 0, 0, 0), {"epoch": 0, "epochs": 0, "step": 0, "steps": 0}),
        ((None, 4, None, 20), {"epochs": 4, "steps": 20}),
    ],
)
def test_the_fraction_of_a_progress_event(tmp_path, given, fields):
    Events(tmp_path / "events.jsonl", 3).progress(*given, loss=float("nan"), learning_rate=1 / 3, eta_seconds=None)
    event = json.loads((tmp_path / "events.jsonl").read_text())
    assert event.pop("time").endswith("Z")
    assert event == {"attempt": 3, "kind": "progress", **fields, "learning_rate": 0.333333}
