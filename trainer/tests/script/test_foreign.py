"""Folders of a script are read without following or waiting for anything that it may put there."""

import os
import socket

import pytest

from trainer.script import foreign
from trainer.script.foreign import DEPTH, PATH_BYTES


@pytest.fixture
def root(tmp_path):
    (tmp_path / "root" / "a" / "b").mkdir(parents=True)
    (tmp_path / "root" / "a" / "b" / "file").write_text("content")
    (tmp_path / "secret").write_text("key")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("key")
    return tmp_path / "root"


def bind(path) -> None:
    socket.socket(socket.AF_UNIX).bind(str(path))


PLACED = {
    "link": lambda root, path: path.symlink_to(root.parent / "secret"),
    "dead link": lambda root, path: path.symlink_to("nowhere"),
    "link to a folder": lambda root, path: path.symlink_to(root.parent / "outside"),
    "link to itself": lambda root, path: path.symlink_to(path.name),
    "pipe": lambda root, path: os.mkfifo(path),
    "hard link": lambda root, path: os.link(root.parent / "secret", path),
}


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("link", "It is a link."), ("dead link", "It is a link."), ("link to a folder", "It is a link."), ("link to itself", "It is a link."),
        ("pipe", "It is not a regular file."), ("hard link", "It has several names."),
    ],
)  # fmt: skip
def test_what_is_no_file_of_its_own_is_named_and_never_opened(root, kind, reason):
    PLACED[kind](root, root / "x")
    found = {e.path: (e.seen is not None, e.reason) for e in foreign.walk(root, 100)}
    assert found == {"a/b/file": (True, ""), "x": (False, reason)}
    with pytest.raises((OSError, ValueError)), foreign.opened(root, "x"):
        pass
    with pytest.raises((OSError, ValueError)):
        foreign.read_json(root, "x", 100)


def test_a_file_of_several_names_is_opened_only_where_that_is_allowed(root):
    PLACED["hard link"](root, root / "x")
    with foreign.opened(root, "x", linked=True) as (handle, seen):
        assert (os.read(handle, 10), seen.size) == (b"key", 3)


@pytest.mark.parametrize("path", ["", ".", "..", "../secret", "a/../../secret", "/etc/passwd", "a//b/file", "a/./b/file", "a/b/", "/"])
def test_a_path_that_leaves_its_folder_is_refused(root, path):
    with pytest.raises(ValueError, match="leaves its folder"), foreign.opened(root, path):
        pass


@pytest.mark.parametrize("path", ["a", "a/b", "a/b/file/x", "a/x", "x/y"])
def test_what_is_no_file_raises_and_leaves_no_handle_open(root, path):
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises((OSError, ValueError)), foreign.opened(root, path):
        pass
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_folder_on_the_way_is_never_a_link(root):
    (root / "l").symlink_to(root.parent / "outside")
    with pytest.raises(OSError, match="l"), foreign.opened(root, "l/file"):
        pass


def test_a_root_may_be_reached_through_links(root, tmp_path):
    (tmp_path / "again").symlink_to(root)
    with foreign.opened(tmp_path / "again", "a/b/file") as (handle, _):
        assert os.read(handle, 100) == b"content"
    assert [e.path for e in foreign.walk(tmp_path / "again", 100)] == ["a/b/file"]


@pytest.mark.parametrize(("most", "paths"), [(5, ["1", "2", "3", "4", "5"]), (4, ["1", "2", "3", "4", ""]), (1, ["1", ""]), (0, [])])
def test_a_walk_is_bounded_and_says_so(tmp_path, most, paths):
    for i in range(1, 6):
        (tmp_path / str(i)).write_text("")
    found = list(foreign.walk(tmp_path, most))
    assert [e.path for e in found] == paths
    if most in (1, 4):
        assert found[-1].reason == "There are too many files."


def test_folders_count_into_the_limit_of_a_walk(root):
    assert [e.path for e in foreign.walk(root, 3)] == ["a/b/file"]
    assert [e.path for e in foreign.walk(root, 2)][-1:] in ([""], [])


def test_a_root_that_is_not_there_is_empty(tmp_path):
    assert list(foreign.walk(tmp_path / "none", 10)) == []


def test_what_is_nested_too_deeply_is_named(tmp_path):
    deep = tmp_path
    for _ in range(DEPTH + 1):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "file").write_text("")
    (found,) = foreign.walk(tmp_path, 1000)
    assert (found.path, found.seen, found.reason) == ("/".join("d" * (DEPTH + 1)), None, "It is nested too deeply.")


def test_names_that_are_too_long_or_no_text_are_named(tmp_path):
    (tmp_path / os.fsdecode(b"\xff")).write_text("")
    long = tmp_path.joinpath(*["n" * 250] * 4)
    long.mkdir(parents=True)
    found = list(foreign.walk(tmp_path, 100))
    assert {e.reason for e in found} == {"Its name is too long or not UTF-8."}
    assert max(len(os.fsencode(e.path)) for e in found) > PATH_BYTES


@pytest.mark.parametrize("kind", ["link", "link to a folder", "pipe", "dead link", "file"])
def test_what_stands_where_a_folder_must_be_is_removed_and_never_followed(root, kind):
    if kind == "file":
        (root / "x").write_text("")
    else:
        PLACED[kind](root, root / "x")
    with foreign.parent_of(root, "x/y/new", create=True) as (folder, name):
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    assert (root / "x" / "y" / "new").is_file() and not (root / "x").is_symlink()
    assert sorted(p.name for p in (root.parent / "outside").iterdir()) == ["file"]
    assert (root.parent / "secret").read_text() == "key"


@pytest.mark.parametrize(
    ("content", "limit", "value"),
    [(b'{"a": 1}', 8, {"a": 1}), (b'{"a": 1}', 7, None), (b"", 8, None), (b"\xff", 8, None), (b"[" * 5000, 10_000, None), (b"1 ", 2, 1)],
)
def test_json_is_read_up_to_its_limit(tmp_path, content, limit, value):
    (tmp_path / "x").write_bytes(content)
    if value is not None:
        assert foreign.read_json(tmp_path, "x", limit) == value
        return
    with pytest.raises(ValueError):  # noqa: PT011 - of json, or of the limit
        foreign.read_json(tmp_path, "x", limit)


def test_a_file_that_changed_is_not_what_was_seen(root):
    with foreign.opened(root, "a/b/file") as (_, before), foreign.opened(root, "a/b/file") as (_, again):
        assert before == again
    (root / "a" / "b" / "file").write_text("CONTENT")
    with foreign.opened(root, "a/b/file") as (_, after):
        assert after != before and after.size == before.size
