"""The keepers of warm processes: when one leaves, how much room there is for it, and which machines get one."""

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from trainer.warm import keeper, place, pool

ADDRESS = "127.0.0.1:1"
START_SECONDS = 600.0  # of a machine that many others use


@pytest.fixture(autouse=True)
def address(monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", ADDRESS)


class Stage:
    """A keeper with programs that stand for the warm process, one after the other. ``left`` is set when it is done, ``starts`` counts them."""

    def __init__(self, monkeypatch, folder: Path, program: str, patience: float, free: int):
        self.left, self.starts = threading.Event(), 0
        monkeypatch.setattr(place, "folder", lambda: folder)
        monkeypatch.setattr(keeper, "LOOK_SECONDS", 0.05)
        monkeypatch.setattr(keeper, "START_SECONDS", patience)
        monkeypatch.setattr(keeper, "room", lambda: free)
        monkeypatch.setattr(keeper, "SERVER", ("-S", "-c", program))
        start = keeper.Keeper._start

        def counted(this: keeper.Keeper) -> None:
            self.starts += 1
            start(this)

        monkeypatch.setattr(keeper.Keeper, "_start", counted)
        self.keeper = keeper.Keeper(ADDRESS, self.left.set)


@pytest.mark.parametrize(
    ("program", "patience", "free", "starts"),
    [
        pytest.param("pass", START_SECONDS, 10**12, 1, id="nobody has come for a while"),
        pytest.param("raise SystemExit(1)", START_SECONDS, 10**12, keeper.MAX_STARTS, id="it cannot start"),
        pytest.param("import time; time.sleep(600)", 0.0, 10**12, keeper.MAX_STARTS, id="it hangs"),
        pytest.param("pass", START_SECONDS, 10**8, 0, id="the machine has no room"),
    ],
)
def test_a_keeper_leaves_when_it_has_nothing_to_keep(monkeypatch, tmp_path, program, patience, free, starts):
    stage = Stage(monkeypatch, tmp_path, program, patience, free)
    assert stage.left.wait(START_SECONDS)
    assert stage.starts == starts


@pytest.mark.parametrize(
    ("limit", "used", "statistics", "free"),
    [
        pytest.param("4000", "3000", "anon 1\ninactive_file 500", 1500, id="files that can go are free"),
        pytest.param("4000", "3000", "", 1000, id="there are none"),
        pytest.param("max", "3000", "inactive_file 500", 9000, id="there is no limit"),
        pytest.param("20000", "3000", "", 9000, id="the machine has less"),
    ],
)
def test_the_room_for_a_warm_process_is_that_of_its_container(monkeypatch, tmp_path, limit, used, statistics, free):
    names = [str(tmp_path / name) for name in ("max", "current", "stat")]
    for name, text in zip(names, (limit, used, statistics), strict=True):
        Path(name).write_text(text)
    monkeypatch.setattr(keeper, "available", lambda: 9000)
    monkeypatch.setattr(keeper, "_CONTAINERS", (tuple(names), ("/nothing", "/nothing", "/nothing")))
    assert keeper.room() == free


class FakeRay:
    """Stands for the module ray in pool: three machines, and the keepers that are there."""

    cloudpickle = SimpleNamespace(register_pickle_by_value=lambda _: None)

    def __init__(self, keepers: list[str]):
        self.keepers, self.begun, self.ended = keepers, [], []
        self.util = SimpleNamespace(list_named_actors=lambda **_: [{"name": k, "namespace": pool.NAMESPACE} for k in keepers])

    def nodes(self):
        machines = [("c", True, {}), ("b", True, {"node:__internal_head__": 1.0}), ("a", True, {}), ("d", False, {})]
        return [{"NodeID": name, "Alive": alive, "Resources": resources} for name, alive, resources in machines]

    def remote(self, _):
        return self

    def options(self, name, num_cpus, lifetime, **_):
        assert (num_cpus, lifetime) == (0, "detached"), "an idle process holds nothing in Ray's books"
        return SimpleNamespace(remote=lambda *_: self.begun.append(name))

    def get_actor(self, name, namespace):
        return name

    def kill(self, name, no_restart):
        self.ended.append(name)


@pytest.mark.parametrize(
    ("most", "present", "begun", "ended"),
    [
        pytest.param("2", [], ["b", "a"], [], id="the head comes first, and there are no more than allowed"),
        pytest.param("9", ["b"], ["a", "c"], [], id="the others follow"),
        pytest.param("2", ["b", "a"], [], [], id="all are there"),
        pytest.param("1", ["b", "a"], [], ["a"], id="there are more than allowed"),
        pytest.param("1", ["old"], ["b"], ["old"], id="one of another version"),
        pytest.param("1", ["stranger"], ["b"], [], id="one of another service stays"),
        pytest.param("0", ["old"], [], [], id="none are wanted"),
    ],
)
def test_which_machines_get_a_keeper(monkeypatch, most, present, begun, ended):
    monkeypatch.setenv("WARM_WORKERS", most)
    monkeypatch.setattr(pool, "NodeAffinitySchedulingStrategy", lambda *_, **__: None)
    names = {name: pool._name(name) for name in "abc"} | {"old": f"{pool._owner()}-0-b", "stranger": "other-0-b"}
    fake = FakeRay([names[p] for p in present])
    monkeypatch.setattr(pool, "ray", fake)
    pool.renew({})
    assert fake.begun == [names[b] for b in begun]
    assert fake.ended == [names[e] for e in ended]
