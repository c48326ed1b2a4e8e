"""What comes out of archives that somebody made to do harm: nothing, and never more than a run may unpack."""

import io
import itertools
import random
import shutil
import struct
import zipfile
from types import SimpleNamespace

import pytest
from test_data_load import archive, load as load, spec_of, texts

from trainer import predict
from trainer.archive import budget
from trainer.archive.budget import Budget
from trainer.archive.zips import NotAnArchive
from trainer.config import spec as specs
from trainer.data import archives
from trainer.errors import UserError
from trainer.run_folder.events import Events

GIB = 1 << 30


@pytest.fixture
def expand(tmp_path):
    """expand(*contents) reads these archives one after the other, from one budget, and returns the files that come out of them."""

    def call(*contents: bytes, budget: Budget | None = None):
        call.events = Events(tmp_path / "events.jsonl", 1)
        call.budget = budget or Budget()
        spec = spec_of(tmp_path, {f"{c}.zip": content for c, content in zip("abcdefgh", contents)})
        shutil.rmtree(tmp_path / "work", ignore_errors=True)
        return [f for source in spec.inputs for f in archives.expand(source, tmp_path / "work" / "expanded", call.budget, call.events).files]

    return call


def written(tmp_path) -> int:
    return sum(f.stat().st_size for f in (tmp_path / "work").rglob("*") if f.is_file())


def test_archives_that_are_each_small_enough_are_too_large_together(expand, tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "MAX_BYTES", 10_000)
    one = archive({"x.csv": random.Random(1).randbytes(4000)})
    assert len(expand(one, one)) == 2
    with pytest.raises(UserError, match=r"c.zip is too large.*together with the archives before it") as e:
        expand(one, one, one)
    assert e.value.code == "archive"
    assert written(tmp_path) <= 10_000


def test_several_small_zip_bombs_are_refused_together(expand, tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "RATIO_FROM_BYTES", 1_000_000)
    one = archive({"x.csv": b"a,b\n" * 240_000})
    assert len(expand(one)) == 1
    with pytest.raises(UserError, match=r"b\.zip is too large"):
        expand(one, one, one, one)
    assert written(tmp_path) < 1_000_000


def test_the_files_of_all_archives_are_counted_together(expand, monkeypatch):
    monkeypatch.setattr(budget, "MAX_FILES", 10)
    one = archive({f"{i}.jpg.txt": b"x" for i in range(4)})
    with pytest.raises(UserError, match=r"c\.zip is too large.*4 files, and the archives before it have 8; at most 10"):
        expand(one, one, one)


def test_a_model_file_counts_into_the_same_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "MAX_BYTES", 5000)
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as z:
        z.writestr("model/model.safetensors", bytes(4000))
    found = spec_of(tmp_path, {"model.zip": stored.getvalue(), "data.zip": archive({"x.csv": random.Random(1).randbytes(2000)})})
    found.model = None
    with pytest.raises(UserError, match="no model of an earlier run"):
        predict.find(found, SimpleNamespace(model_file="model.zip"))
    with pytest.raises(UserError, match=r"data.zip is too large"):
        archives.expand(found.inputs[1], tmp_path / "work" / "expanded", found.budget, Events(tmp_path / "events.jsonl", 1))


def test_a_model_file_that_explodes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "RATIO_FROM_BYTES", 100_000)
    found = spec_of(tmp_path, {"model.zip": archive({"model/model.safetensors": bytes(1_000_000)})})
    found.model = None
    with pytest.raises(UserError, match=r"model.zip is too large.*times its size") as e:
        predict.find(found, SimpleNamespace(model_file="model.zip"))
    assert e.value.code == "model_file"
    assert written(tmp_path) == 0


def test_one_start_has_one_budget_in_all_its_specs(make_run):
    from dataclasses import replace

    spec = specs.load(make_run({"a.csv": texts()}))
    assert replace(spec, inputs=()).budget is spec.budget


def test_an_archive_that_says_it_holds_more_than_is_free_is_refused_before_a_byte_is_written(expand, tmp_path):
    with pytest.raises(UserError, match=r"too little free space to unpack a.zip.*2.1 GB are reserved for results") as e:
        expand(archive({"x.csv": texts()}), budget=Budget(lambda _: (2 * GIB, 500 * GIB)))
    assert e.value.code == "disk_full"
    assert written(tmp_path) == 0


def test_a_disk_that_others_fill_meanwhile_ends_the_unpacking(expand, tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "LOOK_BYTES", 1 << 20)
    free = itertools.chain([10 * GIB] * 3, itertools.repeat(1 * GIB))
    with pytest.raises(UserError, match="too little free space"):
        expand(archive({"x.csv": random.Random(1).randbytes(8 << 20)}), budget=Budget(lambda _: (next(free), 500 * GIB)))
    assert written(tmp_path) < 5 << 20


def test_a_small_disk_keeps_a_tenth():
    assert not Budget(lambda _: (30, 100)).look(None, 20)
    assert Budget(lambda _: (30, 100)).look(None, 21)


def test_a_disk_that_is_full_names_the_archive_and_no_path(expand, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr("builtins.open", lambda path, mode="r", *a, real=open, **k: full() if mode == "xb" else real(path, mode, *a, **k))
    with pytest.raises(UserError, match=r"free space to unpack a\.zip") as e:
        expand(archive({"x.csv": texts()}))
    assert (e.value.code, str(tmp_path) in str(e.value)) == ("disk_full", False)


def test_what_an_earlier_start_unpacked_is_gone_before_another_unpacks(tmp_path):
    from trainer.run_folder import lease

    earlier = lease.take(tmp_path / "work")
    (earlier.folder / "expanded" / "1").mkdir(parents=True)
    (earlier.folder / "expanded" / "1" / "000001").write_bytes(b"x")
    later = lease.take(tmp_path / "work", 2)
    assert [p.name for p in (tmp_path / "work").iterdir()] == [later.folder.name]
    assert not list(tmp_path.rglob("000001"))


def test_archives_whose_names_are_alike_do_not_delete_each_others_files(load):
    found = load({"a/b.zip": archive({"c.csv": texts(40)}), "a_b.zip": archive({"d.csv": texts(40, "some other words, number")})})
    assert found.files == ["a/b/c.csv", "a_b/d.csv"]


def test_an_archive_with_a_very_long_name_is_read(load):
    assert load({f"{'x' * 240}/{'y' * 240}.zip": archive({"c.csv": texts()})}).files


def raw(entries: list[dict], comment: bytes = b"") -> bytes:
    """An archive byte by byte: each entry may say what it likes. Without ``at`` it has a local header and data of its own."""
    body, directory = b"", b""
    for e in entries:
        name, data = e["name"], e.get("data", b"x")
        crc, size, packed, method = zipfile.crc32(data), e.get("size", len(data)), e.get("packed", len(data)), e.get("method", 0)
        at = e.get("at", len(body))
        if "at" not in e:
            body += struct.pack("<4s5H3L2H", b"PK\3\4", 20, e.get("flags", 0), method, 0, 33, crc, packed, size, len(name), 0) + name + data
        fields = (20, 20, e.get("flags", 0), method, 0, 33, crc, packed, size, len(name), 0, 0, 0, 0, e.get("mode", 0) << 16, at)
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", *fields) + name
    return body + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(entries), len(entries), len(directory), len(body), len(comment)) + comment


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        pytest.param({"mode": 0o120777}, "links", id="a symbolic link"),
        pytest.param({"mode": 0o020666}, "devices", id="a device"),
        pytest.param({"mode": 0o010666}, "devices", id="a pipe"),
        pytest.param({"name": b"/etc/x.csv"}, "point outside", id="an absolute path"),
        pytest.param({"name": b"a/../../x.csv"}, "point outside", id="dots"),
        pytest.param({"name": b"..\\..\\x.csv"}, "point outside", id="dots with backslashes"),
        pytest.param({"name": b"C:\\x.csv"}, "point outside", id="a drive"),
        pytest.param({"name": b"x.csv\0.exe"}, "names", id="a zero byte"),
        pytest.param({"name": b"a\n\x1b[2Jx.csv"}, "names", id="control characters"),
        pytest.param({"name": b"d/" * 5000 + b"x.csv"}, "names", id="thousands of folders"),
        pytest.param({"name": b"d" * 5000 + b".csv"}, "names", id="a name of thousands of characters"),
    ],
)
def test_members_that_are_not_plain_files_are_left_out_and_counted(expand, entry, why):
    found = expand(raw([{"name": b"x.csv", "data": b"a,b\n", **entry}, {"name": b"good.csv", "data": b"a,b\n1,2\n"}]))
    assert [f.name for f in found] == ["a/good.csv"]
    (warning,) = expand.events.warnings
    assert "1 file is left out of the archive a.zip" in warning["text"]
    assert why in warning["text"]


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        pytest.param([{"name": b"x.csv"}, {"name": b"x.csv"}], "two files named x.csv", id="a name that stands twice"),
        pytest.param([{"name": b"x.csv"}, {"name": b".\\x.csv"}], "two files named x.csv", id="two spellings of a name"),
        pytest.param([{"name": b"x.csv"}, {"name": b"x.csv", "at": 0}], "overlap", id="one file that is listed twice"),
        pytest.param([{"name": b"x.csv", "packed": 90}, {"name": b"y.csv", "data": b"x" * 90}], "overlap", id="a file over the next one"),
        pytest.param([{"name": b"x.csv", "packed": 4000}], "overlap", id="a file over the list of files"),
        pytest.param([{"name": b"x.csv", "flags": 1}], "encrypted", id="encrypted"),
        pytest.param([{"name": b"x.csv", "method": 12}], "packed with bzip2", id="bzip2, which cannot be unpacked in bounded pieces"),
        pytest.param([{"name": b"x.csv", "method": 9}], "Deflate64.*7-Zip", id="Deflate64, as Windows packs large files"),
        pytest.param([{"name": b"x.csv", "method": 77}], "the method 77", id="a method without a name"),
        pytest.param([{"name": b"x.csv", "data": b"x" * 90, "size": 9}], "damaged", id="a size that is a lie"),
    ],
)
def test_an_archive_that_misleads_is_refused(expand, entries, named):
    with pytest.raises(UserError, match=named) as e:
        expand(raw(entries))
    assert "a.zip" in e.value.what
    assert e.value.code == "archive"


def test_a_long_list_of_files_is_never_read_at_once(expand):
    with pytest.raises(UserError, match="list of files is too long"):
        expand(bytes(40 << 20) + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 36 << 20, 0, 0))


def test_a_large_file_is_never_in_memory_as_a_whole(expand, monkeypatch):
    import tracemalloc

    packed = archive({"x.csv": random.Random(1).randbytes(1 << 20) * 24})
    tracemalloc.start()
    try:
        (found,) = expand(packed)
        assert tracemalloc.get_traced_memory()[1] < len(packed) + (8 << 20)
    finally:
        tracemalloc.stop()
    assert found.size == 24 << 20


WHOLE = archive({"a.csv": texts(20), "b/c.csv": b"a,b\n" * 2000, "d.txt": b"some words", "e/": b""})


@pytest.mark.parametrize("seed", range(300))
def test_any_change_of_an_archive_is_an_error_of_the_user_or_harmless(seed, tmp_path):
    chance = random.Random(seed)
    data = bytearray(WHOLE)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data)) if chance.random() < 0.3 else chance.randrange(max(0, len(data) - 330), len(data))
        match chance.randrange(4):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                data[at : at + 4] = chance.choice((b"\0" * 4, b"\xff" * 4, b"PK\1\2", b"PK\3\4", b"PK\6\6", chance.randbytes(4)))
            case 2:
                del data[at : at + chance.randint(1, 40)]
            case _:
                data[at:at] = data[(b := chance.randrange(len(data))) : b + chance.randint(1, 80)]
    source = spec_of(tmp_path, {"a.zip": bytes(data)}).inputs[0]
    try:
        found = archives.expand(source, tmp_path / "work", Budget(), Events(tmp_path / "events.jsonl", 1)).files
    except NotAnArchive as e:
        assert str(e).startswith("is ")
    except UserError as e:
        assert e.what.endswith(".") and e.do.endswith(".") and "a.zip" in e.what
    else:
        assert all(f.file.parent.parent == tmp_path / "work" and f.size == f.file.stat().st_size for f in found)
    assert written(tmp_path) < 100_000
