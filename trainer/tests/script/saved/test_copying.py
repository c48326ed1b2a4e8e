"""Copies of a script's files are of one moment, or are not there; and what a script uses is measured without trusting it."""

import hashlib
import os
import subprocess
import sys

import pytest

from trainer.script import foreign
from trainer.script.sandbox import watch
from trainer.script.saved import copying
from trainer.script.saved.whole_files import TORN, UNKNOWN


@pytest.fixture
def roots(tmp_path):
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    return tmp_path / "from", tmp_path / "to"


@pytest.mark.parametrize("data", [b"", b"x", b"y" * (1 << 20), b"z" * ((1 << 20) + 1)])
def test_a_copy_has_the_bytes_and_the_hash_of_its_file(roots, data):
    source, target = roots
    (source / "a").write_bytes(data)
    copied = copying.copy(source, "a", target, "deep/b")
    assert (target / "deep" / "b").read_bytes() == data
    assert copied.sha256 == hashlib.sha256(data).hexdigest()
    assert (copied.seen.size, copied.verdict) == (len(data), UNKNOWN if data else TORN)


@pytest.mark.parametrize("change", ["longer", "shorter", "other bytes", "other time"])
def test_a_file_that_is_written_to_meanwhile_leaves_no_copy(roots, monkeypatch, change):
    source, target = roots
    (source / "a").write_bytes(b"before")
    transfer = copying._transfer

    def interfere(handle, made, size):
        digest = transfer(handle, made, size)
        if change == "other time":
            os.utime(source / "a", ns=(1, 1))
        else:
            (source / "a").write_bytes({"longer": b"before and after", "shorter": b"be", "other bytes": b"BEFORE"}[change])
        return digest

    monkeypatch.setattr(copying, "_transfer", interfere)
    with pytest.raises(copying.Changed):
        copying.copy(source, "a", target, "a")
    assert list(target.iterdir()) == []


def test_a_file_that_shrinks_while_it_is_read_leaves_no_copy(roots, monkeypatch):
    source, target = roots
    (source / "a").write_bytes(b"before")
    monkeypatch.setattr(copying.foreign.Seen, "of", classmethod(lambda cls, found: cls(6, 0, 0, 0)))
    (source / "a").write_bytes(b"be")
    with pytest.raises(copying.Changed):
        copying.copy(source, "a", target, "a")
    assert list(target.iterdir()) == []


def test_a_copy_replaces_what_is_there_and_follows_no_link(roots, tmp_path):
    source, target = roots
    (source / "a").write_bytes(b"new")
    (tmp_path / "secret").write_bytes(b"key")
    (target / "a").symlink_to(tmp_path / "secret")
    copying.copy(source, "a", target, "a")
    assert (target / "a").read_bytes() == b"new" and not (target / "a").is_symlink()
    assert (tmp_path / "secret").read_bytes() == b"key"


@pytest.mark.parametrize(("linked", "copied"), [(False, False), (True, True)])
def test_a_file_of_several_names_is_copied_only_where_that_is_allowed(roots, linked, copied):
    source, target = roots
    (source / "a").write_bytes(b"x")
    os.link(source / "a", source / "b")
    if copied:
        assert copying.copy(source, "a", target, "a", linked).seen.size == 1
        return
    with pytest.raises(ValueError, match="It has several names"):
        copying.copy(source, "a", target, "a", linked)
    assert not (target / "a").exists()


@pytest.mark.parametrize(("mode", "given"), [(0o600, 0o660), (0o755, 0o775), (0o4777, 0o777), (0o444, 0o664)])
def test_a_copy_gets_the_time_and_the_permissions_of_its_file(roots, mode, given):
    _, target = roots
    (target / "a").write_bytes(b"x")
    copying.finish(target, "a", mode, 1_700_000_000_123_456_789)
    there = (target / "a").stat()
    assert (there.st_mode & 0o7777, there.st_mtime_ns) == (given, 1_700_000_000_123_456_789)


def test_a_second_name_is_the_same_file(roots):
    source, target = roots
    (source / "a").write_bytes(b"x")
    copying.link(source, "a", target, "deep/b")
    assert (target / "deep" / "b").stat().st_ino == (source / "a").stat().st_ino
    with pytest.raises(FileExistsError):
        copying.link(source, "a", target, "deep/b")
    with foreign.opened(target, "deep/b", linked=True) as (_, seen):
        assert seen.size == 1


@pytest.mark.parametrize(("most", "count"), [(0, 5), (5, 5), (4, 5), (3, 4), (1, 2)])
def test_the_disk_is_counted_up_to_a_number_of_entries(tmp_path, most, count):
    (tmp_path / "a" / "b").mkdir(parents=True)
    for i in range(3):
        (tmp_path / str(i)).write_bytes(b"x" * 5000)
    (tmp_path / "a" / "b").rmdir()
    (tmp_path / "a" / "c").write_bytes(b"")
    size, found, seen = watch.disk([tmp_path], most)
    assert (found, seen) == (count, True)
    assert most not in (0, 5) or size >= 3 * 4096


@pytest.mark.parametrize("name", ["nothing", "file"])
def test_a_folder_that_is_gone_or_none_takes_no_space(tmp_path, name):
    (tmp_path / "file").write_bytes(b"x" * 5000)
    assert watch.disk([tmp_path / name], 0) == (0, 0, True)


def test_deleted_files_that_are_held_open_are_counted_once(tmp_path):
    device = tmp_path.stat().st_dev
    before = watch.deleted_files([os.getpid()], device)
    with open(tmp_path / "a", "wb") as file, open(tmp_path / "a", "rb"):
        file.write(b"x" * 1_000_000)
        file.flush()
        os.fsync(file.fileno())
        assert watch.deleted_files([os.getpid()], device) == before
        (tmp_path / "a").unlink()
        assert 1_000_000 <= watch.deleted_files([os.getpid(), os.getpid()], device) - before < 1_100_000
        assert watch.deleted_files([os.getpid()], device + 1) <= before
    assert watch.deleted_files([os.getpid()], device) == before


def test_the_processes_below_a_process_are_found_and_those_that_ended_are_not():
    child = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    try:
        found = watch.descendants(os.getpid())
        assert found[0] == os.getpid() and child.pid in found
        assert watch.threads([child.pid]) == 1
        own, shared = watch.memory([child.pid])
        assert own > 0 and shared >= 0
        assert watch.memory([child.pid], enough=1 << 50)[0] > 0
    finally:
        child.communicate(b"\n")
    assert child.pid not in watch.descendants(os.getpid())
    assert (watch.threads([child.pid]), watch.memory([child.pid]), watch.cpu_seconds([child.pid])) == (0, (0, 0), 0.0)
    assert watch.in_memory_files(child.pid, ["/tmp"]) == watch.in_memory_files(os.getpid(), ["/tmp"]) == 0
