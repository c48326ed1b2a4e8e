"""Labels in a table of their own, which names the rows of another one."""

import pytest

from trainer.data.columns import keyed, label_tables
from trainer.data.formats import arrow_table
from trainer.data.formats.table import Table
from trainer.errors import UserError

_N = 40


def _table(name: str, header: str, row, rows=range(_N)) -> Table:
    return Table(name, header.split(","), [(i + 2, [str(c) for c in row(i)]) for i in rows])


def _measured(name: str = "measured.csv", rows=range(_N)) -> Table:
    return _table(name, "plot,ph,depth", lambda i: (f"P{i}", i * 7 % 13 / 10, i * 3 % 11 / 10), rows)


def _classes(name: str = "plants.csv", column: str = "vegetation", rows=range(_N)) -> Table:
    return _table(name, f"plot,{column}", lambda i: (f"P{i}", "grass" if i % 2 else "shrub"), rows)


_VISITS = _table("visits.csv", "plot,ph,depth", lambda i: (f"P{i % 25}", i * 7 % 13 / 10, i * 3 % 11 / 10), range(75))
_TWO = _table("plants.csv", "plot,vegetation,cover", lambda i: (f"P{i}", "xy"[i % 2], i * 5 % 37 / 10))


def _named(name: str) -> Table:
    return Table(name, _TWO.columns, _TWO.rows)


_SITES = _table("sites.csv", "plot,soil", lambda i: (f"P{i}", "clay" if i % 3 else "sand"), range(25))


@pytest.mark.parametrize(
    ("tables", "asked", "added"),
    [
        pytest.param([_measured(), _classes()], "", "vegetation", id="one label for each row"),
        pytest.param([_measured(), _classes(rows=reversed(range(_N)))], "", "vegetation", id="in another order"),
        pytest.param([_measured(), _classes(rows=range(38))], "", "vegetation", id="two rows without a label"),
        pytest.param([_measured(), _classes(rows=range(30))], "", "", id="ten rows without a label"),
        pytest.param([_VISITS, _SITES], "", "", id="a description of the plots of many visits"),
        pytest.param([_VISITS, _SITES], "soil", "soil", id="the same, as requested"),
        pytest.param([_VISITS, _classes("labels.csv", "soil", range(25))], "", "soil", id="labels of the plots of many visits"),
        pytest.param([_measured(), _TWO], "cover", "cover", id="a table with more than a label, as requested"),
        pytest.param([_measured(), _named("labels.csv")], "cover", "cover", id="a table of several labels, as requested"),
        pytest.param([_measured(), _classes()], "ph", "", id="another column is asked for"),
        pytest.param([_measured(), _measured("test.csv", range(40, 80)), _classes()], "", "vegetation", id="beside rows without a label"),
        pytest.param(
            [_table("train.csv", "plot,ph,target", lambda i: (f"P{i}", i % 7 / 10, i % 2)), _measured("test.csv"), _classes("sample.csv", "target")],
            "", "", id="the label is in the training rows already",
        ),
        pytest.param([_measured(), _table("all.csv", "plot,y", lambda i: (f"P{i}", 0))], "", "", id="always the same"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "are_large", [(False, False), (True, True), (True, False), (False, True)], ids=["small", "large", "first large", "others large"]
)
def test_a_label_is_added_to_the_rows_that_its_table_names(tmp_path, monkeypatch, tables, asked, added, are_large):
    """Whether rows and labels are lists or stay in files."""
    monkeypatch.setattr(keyed, "_BLOCK", 7)
    tables = [Table(t.name, [*t.columns], [(n, [*row]) for n, row in t.rows]) for t in tables]
    tables = [arrow_table.of(t) if are_large[i > 0] else t for i, t in enumerate(tables)]
    count = len(tables)
    column, why = label_tables.add(tables, asked, tmp_path)
    assert column == added and bool(why) == bool(added) and len(tables) == count - bool(added)
    if added:
        table = tables[0]
        assert table.columns[-1] == added and len(table.joined) == 1
        rows = dict(zip(table.cells("plot"), table.cells(added)))
        assert rows["P3"] and rows.get("P39", "") in ("", *rows.values())
        assert added != "vegetation" or all(label in ("", "grass" if int(plot[1:]) % 2 else "shrub") for plot, label in rows.items())


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([_measured(), _TWO], "have the same rows, by plot"),
        ([_measured(), _named("labels.csv")], "vegetation and cover"),
        ([_table("a.csv", "plot,ph", lambda i: (f"P{i}", i * 7 % 31 / 10)), _classes()], "ph of a.csv and vegetation of plants.csv"),
    ],
)
@pytest.mark.parametrize("large", [False, True])
def test_what_only_the_user_can_say_is_asked(tmp_path, tables, said, large):
    with pytest.raises(UserError, match=said) as e:
        label_tables.add([arrow_table.of(t) if large else t for t in tables], "", tmp_path)
    assert "label_column" in str(e.value)


def test_tables_of_labels_for_each_split_name_the_rows_of_their_own_split(tmp_path):
    def numbered(name: str, header: str, rows: int, cell) -> Table:
        return _table(name, header, lambda i: (i, cell(i)), range(rows))

    measured = [numbered(f"X_{s}.csv", "row,depth", n, lambda i: i * 7 % 13 / 10) for s, n in (("train", 60), ("test", 30))]
    labels = [
        numbered(f"y_{s}.csv", "row,state", n, cell) for s, n, cell in (("train", 60, lambda i: "ab"[i % 2]), ("test", 30, lambda i: "ba"[i % 2]))
    ]
    found = [*measured, *labels]
    column, why = label_tables.add(found, "", tmp_path)
    assert column == "state" and "90 of 90" in why and [t.name for t in found] == ["X_train.csv", "X_test.csv"]
    assert [t.cells("state")[:2] for t in found] == [["a", "b"], ["b", "a"]], "the test rows have the numbers of training rows"


@pytest.mark.parametrize(
    ("keys", "others", "found"),
    [
        pytest.param(["a", " b", "c"], [["c", "x ", "b ", "c"], ["a"]], [[2, -1, 1, 2], [0]], id="some"),
        pytest.param(["a", "b", " a"], [["a"]], None, id="a key twice"),
        pytest.param(["a", ""], [["a"]], None, id="a row without a key"),
        pytest.param(["a", "b"], [[], ["é"]], [[], [-1]], id="none"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("large", [False, True])
def test_rows_are_found_by_their_keys(keys, others, found, large):
    named, *tables = (Table("t.csv", ["k", "v"], [(i, [c, "1"]) for i, c in enumerate(cells)]) for cells in (keys, *others))
    places = keyed.places(arrow_table.of(named) if large else named, tables, "k")
    assert places is found is None or [p.tolist() for p in places or ()] == found


def test_keys_that_do_not_fit_into_memory_are_refused_with_numbers(monkeypatch):
    monkeypatch.setattr(keyed.capacity, "_SMALL", 0)
    monkeypatch.setattr(keyed, "memory", lambda: 700_000_000)
    with pytest.raises(UserError, match=r"Other rows are found by its keys\. .* needs 0\.7 GB of memory; 0\.7 GB are there") as refused:
        keyed.places(arrow_table.of(_classes()), [_measured()], "plot")
    assert refused.value.code == "too_large" and "plants.csv" in str(refused.value)
