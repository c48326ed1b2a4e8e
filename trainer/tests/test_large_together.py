"""Files of one table are judged together: each alone is small, and fits into memory."""

import random

import loading
import pyarrow
import pyarrow.parquet
import pytest
from test_large_tables import HEAD, rows, spec_of, text

from trainer.core.columnar import Columnar
from trainer.data.formats import parquet, plain, whole
from trainer.errors import UserError
from trainer.kinds.rows import reading
from trainer.kinds.series import reading as of_series
from trainer.run_folder.events import Events

FILES = [text([HEAD, *rows(60, seed)]) for seed in range(3)]


def load(folder, files, **values):
    log = folder / "events.jsonl"
    log.unlink(missing_ok=True)
    return loading.load(spec_of(folder, files), Events(log, 1), **{"label_column": "y", **values})


def parquet_bytes(folder, names, count=500, seed=0) -> bytes:
    draw = random.Random(seed)
    columns = {n: [draw.random() for _ in range(count)] for n in names}
    columns["y"] = ["yes" if draw.random() > 0.5 else "no" for _ in range(count)]
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "made.parquet")
    return (folder / "made.parquet").read_bytes()


@pytest.mark.parametrize(
    ("share", "most", "in_columns"),
    [
        pytest.param(0.4, 3, True, id="large together"),
        pytest.param(0.3, 3, False, id="small together"),
        pytest.param(0.4, 2, False, id="too many files to map"),
    ],
)
def test_small_files_of_a_large_table_are_read_in_columns(tmp_path, monkeypatch, share, most, in_columns):
    monkeypatch.setattr(plain, "LARGE", len(FILES[0]) / share)
    monkeypatch.setattr(whole, "MOST_FILES", most)
    monkeypatch.setattr(reading, "FEW", 0)
    data = load(tmp_path, {f"part-{i}.csv": part for i, part in enumerate(FILES)})
    assert isinstance(data.splits["train"], Columnar) is in_columns
    assert sum(map(len, data.splits.values())) == 180


def test_of_parquet_files_of_a_large_table_only_the_columns_are_loaded_that_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "LARGE", 3000)  # cells of 500 rows and 3 columns: 1,500 of each file
    monkeypatch.setattr(of_series, "_LARGEST", 0)  # a small file is read once more, to look for a series
    loaded: dict[str, set[str]] = {}
    real = parquet._in_columns

    def in_columns(name, source, images, kept, folder):
        loaded[name] = {*kept}
        return real(name, source, images, kept, folder)

    monkeypatch.setattr(parquet, "_in_columns", in_columns)
    names = [f"c{i}" for i in range(4)]
    files = {f"part-{i}.parquet": parquet_bytes(tmp_path, names, seed=i) for i in range(2)}
    data = load(tmp_path, files | {"other.parquet": parquet_bytes(tmp_path, ["c0", "c2"])}, columns="c0,c1")
    assert loaded == {name: {"c0", "c1", "y"} for name in ("part-0.parquet", "part-1.parquet")}
    assert data.files == ["part-0.parquet", "part-1.parquet"] and ("other.parquet", "without the column c1") in data.not_read


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_table_in_files_that_fit_alone_is_refused_by_the_sum(tmp_path, monkeypatch, form):
    monkeypatch.setattr(plain, "LARGE", 1)
    monkeypatch.setattr(parquet, "LARGE", 1)
    monkeypatch.setattr(whole.capacity, "_SMALL", 0)
    content = parquet_bytes(tmp_path, ["c0", "c1"], 10_000) if form == "parquet" else text([HEAD, *rows(10_000)])
    limit = 700_000_000 + 15_000 * 38  # 10,000 rows of about 37 bytes fit
    monkeypatch.setattr(whole, "memory", lambda: limit)
    monkeypatch.setattr(parquet, "memory", lambda: limit)
    assert load(tmp_path, {f"a.{form}": content}).labels == ("no", "yes")
    with pytest.raises(UserError) as refused:
        load(tmp_path, {f"a.{form}": content, f"b.{form}": content})
    assert refused.value.code == "too_large"
    assert f"The files a.{form} and b.{form} are one table, which is too large for the machine that reads it." in str(refused.value)
    assert "It has about 0.0 million rows and needs 0.7 GB of memory; 0.7 GB are there." in str(refused.value)
