"""What does not fit into memory is refused before it is read, with the need and the limit in numbers."""

import pytest

from trainer import memory
from trainer.data.formats import memory as capacity
from trainer.errors import UserError


@pytest.mark.parametrize(
    ("own", "limits", "limit"),
    [
        pytest.param("0::/\n", {"memory.max": "5000\n"}, 5000, id="version 2, of a container"),
        pytest.param("0::/user/run\n", {"memory.max": "max", "user/memory.max": "7000\n", "user/run/memory.max": "9000\n"}, 7000, id="2, nested"),
        pytest.param("5:cpu,memory:/a/b\n", {"memory/memory.limit_in_bytes": "8000", "memory/a/b/memory.limit_in_bytes": "6000"}, 6000, id="1"),
        pytest.param("0::/../../a\n", {"memory.max": "4000\n"}, 4000, id="a group outside of what is seen"),
        pytest.param("nonsense", {"memory.max": "words"}, None, id="nothing that can be read"),
        pytest.param(None, {}, None, id="no control groups"),
    ],
)  # fmt: skip
def test_the_smallest_limit_of_all_control_groups_counts(tmp_path, monkeypatch, own, limits, limit):
    for name, text in limits.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_OWN", tmp_path / "own")
    if own is not None:
        (tmp_path / "own").write_text(own)
    assert memory.memory() == limit if limit else memory.memory() > 1 << 20


@pytest.mark.parametrize(
    ("in_columns", "limit", "named", "words"),
    [
        pytest.param(False, 400_000_000, (), "It has about 10.0 million rows and needs 3.5 GB of memory; 0.4 GB are there. A large", id="objects"),
        pytest.param(False, 5_000_000_000, (), "", id="objects that fit"),
        pytest.param(True, 400_000_000, (), "It has about 10.0 million rows and needs 1.1 GB of memory; 0.4 GB are there.", id="columns"),
        pytest.param(True, 2_200_000_000, ("few",), "", id="columns that fit, with few groups"),
        pytest.param(True, 2_200_000_000, ("few", "plant"), "needs 3.1 GB of memory; 2.2 GB are there.", id="columns with an id for each row"),
    ],
)  # fmt: skip
def test_a_table_that_does_not_fit_is_refused_from_its_first_rows(tmp_path, in_columns, limit, named, words):
    file = tmp_path / "t.csv"
    with open(file, "wb") as opened:
        opened.write(b"Plant,few\n" + b"".join(b"%06d,b\n" % i for i in range(200_000)))
        opened.truncate(90_000_000)  # the rest is a hole, which nothing reads
    if not words:
        capacity.check("t.csv", file, in_columns, limit, named)
        return
    with pytest.raises(UserError) as refused:
        capacity.check("t.csv", file, in_columns, limit, named)
    assert words in str(refused.value) and "ray.head.memory" in str(refused.value)


def test_small_files_are_read_whatever_they_need(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"1,2\n" * 1000)
    capacity.check("t.csv", tmp_path / "t.csv", False, 1)


@pytest.mark.parametrize(
    ("head", "cells", "more"),
    [
        pytest.param("recorded", ["2024-01-01 00:00:01", "2024-01-01 00:00:02", "2024-01-02 10:00:00"], 360, id="times that differ"),
        pytest.param("Year", ["2001", "2001", "2001", "2002"], 61, id="few times, by their name"),
        pytest.param("born", ["2001-01-01", "2001-01-02", "2001-01-03"], 0, id="times of persons, by which no row is split"),
        pytest.param("x", ["1.5", "2.5", "3.5"], 0, id="numbers"),
    ],
)  # fmt: skip
def test_a_column_of_times_needs_more(head, cells, more):
    first = "\n".join([f"{head},y", *(f"{cell},yes" for cell in cells)]).encode()
    assert capacity.row_bytes(capacity._columns(first, ())[1]) == capacity.row_bytes([]) + 1 + more
