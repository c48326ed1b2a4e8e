"""Compressed tables: read as the table inside, and refused where they are damaged or would fill the disk."""

import bz2
import gzip
import io
import json
import lzma
import zipfile
import zlib

import pytest
from conftest import small_reviews
from test_data_load import load, texts  # noqa: F401 - a fixture

from trainer import run
from trainer.archive import budget as budgets
from trainer.errors import UserError

PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def packed(kind: str, data: str) -> bytes:
    import pyarrow

    if kind == "zst":
        sink = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data.encode())
        return sink.getvalue().to_pybytes()
    return PACKERS[kind](data.encode())


def lines(n: int = 60) -> str:
    return "".join(json.dumps({"text": f"this is the review number {i}", "label": "ab"[i % 2]}) + "\n" for i in range(n))


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize(("name", "content"), [("data.csv", texts(60)), ("data.tsv", texts(60).replace(",", "\t")), ("data.jsonl", lines())])
def test_a_compressed_table_is_read_as_the_table_inside(load, kind, name, content):  # noqa: F811
    plain, found = load({name: content}), load({f"{name}.{kind}": packed(kind, content)})
    assert found.split_sha256 == plain.split_sha256
    assert found.files == [f"{name}.{kind}"]


def test_a_compressed_file_of_several_parts_is_read_to_its_end(load):  # noqa: F811
    half = texts(80).splitlines(keepends=True)
    parts = ["".join(half[:40]), "".join(half[40:])]
    for kind in ("gz", "bz2", "xz", "zst"):
        found = load({f"a.csv.{kind}": b"".join(packed(kind, p) for p in parts)})
        assert sum(map(len, found.splits.values())) == 80, kind


def test_the_name_of_a_compressed_file_says_its_split(load):  # noqa: F811
    found = load({"train.csv.gz": packed("gz", texts(60)), "test.csv.gz": packed("gz", texts(30, "that was the answer for"))})
    assert len(found.splits["test"]) == 30


def test_a_compressed_table_in_an_archive_is_read(load):  # noqa: F811
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("all/data.csv.gz", packed("gz", texts(60)))
    assert load({"all.zip": out.getvalue()}).files == ["all/all/data.csv.gz"]


@pytest.mark.parametrize(
    ("kind", "fault"), [*((k, "cut short") for k in ("gz", "bz2", "xz", "zst")), *((k, "with other bytes") for k in ("gz", "bz2", "xz"))]
)
def test_a_damaged_compressed_file_is_refused(load, kind, fault):  # noqa: F811
    data = packed(kind, texts(2000))
    middle = len(data) // 2
    broken = data[:middle] if fault == "cut short" else data[:middle] + b"\xff\x00\xff\x00" * 8 + data[middle + 32 :]
    with pytest.raises(UserError, match=f"The compressed file a.csv.{kind} is damaged or incomplete") as e:
        load({f"a.csv.{kind}": broken})
    assert e.value.code == "compressed"


def test_a_file_that_is_only_called_compressed_is_named_with_the_reason(load):  # noqa: F811
    with pytest.raises(UserError, match=r"a\.csv\.gz \(is not compressed with gzip, as its name says\)"):
        load({"a.csv.gz": texts(60)})


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
def test_a_file_that_expands_without_end_is_refused(load, monkeypatch, kind):  # noqa: F811
    monkeypatch.setattr(budgets, "RATIO_FROM_BYTES", 2_000_000)
    with pytest.raises(UserError, match=f"The compressed file a.csv.{kind} is too large to unpack") as e:
        load({f"a.csv.{kind}": packed(kind, "a,b\n" * 2_000_000)})
    assert "without compression" in e.value.do


def test_an_xz_file_that_asks_for_gigabytes_of_memory_is_refused(load):  # noqa: F811
    data = bytearray(packed("xz", texts(60)))
    header = slice(12, 12 + 4 * (data[12] + 1))
    data[header.start + 4] = 38  # the size of the dictionary: 2 GiB
    data[header.stop - 4 : header.stop] = zlib.crc32(data[header.start : header.stop - 4]).to_bytes(4, "little")
    with pytest.raises(UserError, match="damaged or incomplete") as e:
        load({"a.csv.xz": bytes(data)})
    assert "Memory usage limit" in str(e.value.__cause__)


def test_other_compressed_files_are_not_data(load):  # noqa: F811
    load({"a.csv": texts(60), "all.tar.gz": b"\x1f\x8b", "x.gz": b"\x1f\x8b"})
    ignored = next(d for d in load.events.decisions if d["what"] == "ignored_files")
    assert "all.tar.gz (an unsupported archive format: use ZIP)" in ignored["why"] and "x.gz (compressed, and its name does not" in ignored["why"]


def test_a_dry_run_reads_a_compressed_table_from_bytes_to_its_result(make_run):
    spec = make_run({"train.csv.gz": packed("gz", small_reviews(120))}, dry_run="yes")
    assert run.run(str(spec), "local") == run.OK
    assert json.loads((spec.parent / "result.json").read_text())["data"]["files"] == ["train.csv.gz"]
