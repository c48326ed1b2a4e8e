"""Which models can be asked: names, versions and champions, and nothing outside of the registry."""

import hashlib
import json
from types import SimpleNamespace

import pytest

from trainer.answer import store
from trainer.answer.listening import address_of, token_of
from trainer.answer.rows import Refused
from trainer.answer.store import Loaded, Place, Registry, Single, Unknown
from trainer.models.saved_model import NewerModel


@pytest.fixture
def registry(tmp_path):
    for version in ("1", "2", "10", "draft", "01"):
        (tmp_path / "models" / "set" / "reviews" / version / "model").mkdir(parents=True)
    (tmp_path / "secret" / "1" / "model").mkdir(parents=True)
    (tmp_path / "models" / "set" / "linked").symlink_to(tmp_path / "secret")
    return Registry(tmp_path / "models")


def champion(registry, value) -> None:
    (registry._root / "set" / "reviews" / store.CHAMPION).write_text(value if isinstance(value, str) else json.dumps(value))


def test_versions_are_numbers_in_their_order(registry):
    assert registry.versions("set.reviews") == ["1", "2", "10"]
    assert registry.names() == []


@pytest.mark.parametrize(
    ("held", "wanted", "version"),
    [
        pytest.param(None, "", "10", id="the newest where there is no champion"),
        pytest.param({"version": 2}, "", "2", id="the champion"),
        pytest.param({"version": 2}, "1", "1", id="the version that is asked for"),
        pytest.param("{", "", "10", id="a damaged champion"),
        pytest.param([], "", "10", id="a champion that is a list"),
        pytest.param({"version": "2"}, "", "10", id="a champion that is a text"),
        pytest.param({"version": 0}, "", "10", id="a champion that is no version"),
        pytest.param({"version": -1}, "", "10", id="a champion below zero"),
    ],
)
def test_the_version_that_answers(registry, held, wanted, version):
    if held is not None:
        champion(registry, held)
    place = registry.place("set.reviews", wanted)
    assert (place.name, place.version) == ("set.reviews", version)
    assert place.folder == registry._root / "set" / "reviews" / version


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("set.reviews", "3"), ("set.reviews", "01"), ("set.reviews", "draft"), ("set.reviews", "../1"), ("set.reviews", "1/../2"), ("set.other", ""),
        ("set.linked", "1"), ("set.linked", ""), ("set", "1"), ("reviews", "1"), ("..reviews", "1"), ("set.Reviews", "1"), ("set.-x", "1"),
        ("set/..set.reviews", "1"), ("", ""), ("set.reviews.x", "1"), ("set.reviews\n", "1"), ("set.reviews", "1\n"), ("x" * 101 + ".reviews", "1"),
    ],
)  # fmt: skip
def test_what_is_not_in_the_registry_is_unknown(registry, name, version):
    with pytest.raises(Unknown) as refused:
        registry.place(name, version)
    assert (str(refused.value), refused.value.status) == ("There is no such model or version.", 404)


def test_a_champion_that_was_removed_is_unknown(registry):
    champion(registry, {"version": 7})
    with pytest.raises(Unknown):
        registry.place("set.reviews", "")


@pytest.fixture
def version(tmp_path):
    """A folder of a version with one file of a model."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.bin").write_bytes(b"weights")
    listed = [{"path": "a.bin", "sha256": hashlib.sha256(b"weights").hexdigest()}]
    (tmp_path / "version.json").write_text(json.dumps({"name": "set.reviews", "version": 3, "files": listed}))
    return tmp_path


def test_a_server_of_one_version_has_no_other(version):
    single = Single(version)
    assert (single.names(), single.versions("set.reviews")) == (["set.reviews"], ["3"])
    assert single.place("set.reviews", "3") == single.place("set.reviews", "") == Place("set.reviews", "3", version)
    for name, number in (("set.other", ""), ("set.reviews", "2")):
        with pytest.raises(Unknown):
            single.place(name, number)


def test_the_file_of_a_version_must_be_the_one_that_was_named(version):
    right = hashlib.sha256((version / "version.json").read_bytes()).hexdigest()
    assert Single(version, right).names() == ["set.reviews"]
    with pytest.raises(ValueError, match=f"^version.json is not the one with the sha256 {'0' * 64}$"):
        Single(version, "0" * 64)


def damage_changed(folder):
    (folder / "model" / "a.bin").write_bytes(b"weightS")


def damage_added(folder):
    (folder / "model" / "code.py").write_text("import os")


def damage_linked(folder):
    (folder / "model" / "a.bin").rename(folder / "other")
    (folder / "model" / "a.bin").symlink_to(folder / "other")


def damage_list(folder):
    (folder / "version.json").write_text('{"files": [5]}')


def damage_no_list(folder):
    (folder / "version.json").unlink()


@pytest.mark.parametrize("damage", [damage_changed, damage_added, damage_linked, damage_list, damage_no_list])
def test_files_that_are_not_those_of_the_version_are_never_loaded(version, damage, monkeypatch):
    monkeypatch.setattr(store, "Model", lambda folder, models: SimpleNamespace(bytes=1))
    place = Place("set.reviews", "3", version)
    assert Loaded(10).get(place)
    damage(version)
    with pytest.raises(Refused) as refused:
        Loaded(10).get(place)
    assert str(refused.value) == "The files of this version cannot be read: they are damaged. Let another version answer."
    assert refused.value.status == 500


def test_a_model_of_a_newer_version_of_the_program_is_not_called_damaged(version, monkeypatch):
    def newer(folder, models):
        raise NewerModel("its description has schema 2, and this version knows 1")

    monkeypatch.setattr(store, "Model", newer)
    with pytest.raises(Refused, match=r"^A newer version of this program wrote this model\. Update the program") as refused:
        Loaded(10).get(Place("set.reviews", "3", version))
    assert refused.value.status == 409


@pytest.mark.parametrize(
    ("limit", "asked", "read"),
    [
        pytest.param(10, "aab", "ab", id="a model in memory is not read again"),
        pytest.param(10, "abca", "abca", id="the least recently used goes first"),
        pytest.param(10, "abacb", "abcb", id="a use counts"),
        pytest.param(8, "abab", "ab", id="exactly as much as fits"),
        pytest.param(7, "abab", "abab", id="one byte too little for two"),
        pytest.param(1, "aab", "ab", id="one is always kept"),
    ],
)
def test_models_are_kept_in_memory_up_to_a_limit(tmp_path, monkeypatch, limit, asked, read):
    found = []
    monkeypatch.setattr(store, "_read", lambda place, models: found.append(place.name) or SimpleNamespace(bytes=4))
    loaded = Loaded(limit)
    for name in asked:
        loaded.get(Place(name, "1", tmp_path / name))
    assert "".join(found) == read
    assert 1 <= len(loaded) <= max(1, limit // 4)


@pytest.mark.parametrize(("listen", "address"), [(":80", ("0.0.0.0", 80)), ("127.0.0.1:0", ("127.0.0.1", 0)), ("80", ("0.0.0.0", 80))])
def test_where_a_process_listens(listen, address):
    assert address_of(listen) == address


@pytest.mark.parametrize("listen", ["", ":", ":http", "127.0.0.1"])
def test_an_address_without_a_port_is_refused(listen):
    with pytest.raises(ValueError):  # noqa: PT011 - the sentence is Python's
        address_of(listen)


def test_the_token_of_a_file_counts_before_that_of_the_environment(tmp_path):
    (tmp_path / "token").write_text(" secret\n")
    assert token_of(str(tmp_path / "token"), "other") == "secret"
    assert token_of("", "other") == "other"
