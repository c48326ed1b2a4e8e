"""Labels and groups in files of their own, row by row."""

import loading
import pytest

from trainer.core import registry
from trainer.core.columns import Columns
from trainer.core.input import Input
from trainer.data.columns.features import NUMBER
from trainer.data.formats import arrow_table
from trainer.data.formats.table import Table
from trainer.data.sources import Ignored, Sources
from trainer.errors import UserError
from trainer.kinds.rows import prediction, row_by_row
from trainer.run_folder.events import Events

_N = 30
_LABELS = [("wet", "dry")[i % 2] for i in range(_N)]
_WHO = [str(i // 5) for i in range(_N)]


def _table(name: str, rows: int = _N, columns: str = "depth,flow") -> Table:
    names = columns.split(",")
    return Table(name, names, [(i + 2, [f"{i}.{j}" for j in range(len(names))]) for i in range(rows)])


def _add(folder, tables, files, asked=""):
    """What was added, the tables that are left, and the files that are still ignored."""
    sources, ignored = [], Ignored()
    for name, lines in files.items():
        file = folder / name.replace("/", "-")
        file.write_text("\n".join(lines) + "\n")
        sources.append(Input(name, file, file.stat().st_size, ""))
        ignored.add(name, "has no delimiter")
    found = [*tables]
    return row_by_row.add(found, sources, ignored, asked), found, ignored.names()


@pytest.mark.parametrize(
    ("table", "file", "lines", "column"),
    [
        ("X_train.csv", "y_train.csv", _LABELS, "y"),
        ("X_train.csv", "y_train.csv", ["state", *_LABELS], "state"),
        ("X_train.csv", "y_train.csv", ['"state"', *(f'"{c}"' for c in _LABELS)], "state"),
        ("train/X_train.txt", "train/y_train.txt", [f"  {c} " for c in _LABELS], "y"),
        ("features/train.csv", "labels/train.csv", _LABELS, "labels"),
        ("wine-data.csv", "wine-labels.txt", [*_LABELS, "", ""], "labels"),
        ("measured.csv", "labels.txt", _LABELS, "labels"),
        ("data.dat", "target", [str(float(i)) for i in range(_N)], "target"),
    ],
)
@pytest.mark.parametrize("made", [lambda t: t, arrow_table.of], ids=["rows", "arrow"])
def test_the_lines_of_a_file_are_the_labels_of_the_rows(tmp_path, table, file, lines, column, made):
    added, found, ignored = _add(tmp_path, [made(_table(table))], {file: lines})
    assert (added.label, added.group, ignored) == (column, "", [])
    assert found[0].columns == ["depth", "flow", column] and found[0].joined == [file]
    wanted = [c.strip().strip('"') for c in lines if c.strip()][-_N:]
    assert found[0].cells(column) == wanted == [row[-1] for _, row in found[0].rows]
    assert [(what, choice) for what, choice, _ in added.decisions] == [("label_column", column)] and file in added.decisions[0][2]


def test_what_pandas_writes_above_labels_without_a_name_is_no_label_and_is_said(tmp_path):
    codes = [str(i % 2) for i in range(_N)]
    for lines, told in ((["0", *codes], True), (codes, False)):
        added, found, _ = _add(tmp_path, [_table("X.csv")], {"y.csv": lines})
        assert (found[0].cells("y"), "Its first line, 0," in added.decisions[0][2]) == (codes, told)


def test_each_table_has_the_file_of_its_name_and_the_subjects_are_groups(tmp_path):
    tables = [_table("train/X_train.txt"), _table("test/X_test.txt", 25)]
    files = {f"{s}/{what}_{s}.txt": lines[:n] for what, lines in (("y", _LABELS), ("subject", _WHO)) for s, n in (("train", _N), ("test", 25))}
    added, found, ignored = _add(tmp_path, tables, files | {"activity_labels.txt": ["1 wet", "2 dry"]})
    assert (added.label, added.group, ignored) == ("y", "subject", ["activity_labels.txt"])
    assert [t.columns for t in found] == [["depth", "flow", "y", "subject"]] * 2
    assert [t.cells("y") for t in found] == [_LABELS, _LABELS[:25]] and found[1].cells("subject") == _WHO[:25]


def test_a_table_of_one_column_is_the_labels_of_another(tmp_path):
    labels = Table("y.npy", ["value 1"], [(i + 1, [c]) for i, c in enumerate(_LABELS)])
    added, found, _ = _add(tmp_path, [_table("X.npy"), labels], {})
    assert added.label == "y" and [t.name for t in found] == ["X.npy"] and found[0].cells("y") == _LABELS


@pytest.mark.parametrize(
    ("tables", "files", "asked"),
    [
        pytest.param([_table("X.csv")], {"y.csv": _LABELS}, "flow", id="another column is asked for"),
        pytest.param([_table("X.csv", columns="depth,label")], {"y.csv": _LABELS}, "", id="the table has a label"),
        pytest.param([_table("birds.csv"), _table("fish.csv")], {"labels.csv": _LABELS}, "", id="of two tables"),
        pytest.param([_table("data.csv")], {"labels.txt": [f"class {i}" for i in range(40)]}, "", id="a list of classes"),
        pytest.param([_table("data.csv")], {"labels.txt": ["wet", "dry"]}, "", id="two classes"),
        pytest.param([_table("data.csv", 12)], {"labels.txt": _LABELS[:12]}, "", id="few rows"),
        pytest.param([_table("data.csv")], {"notes.txt": _LABELS}, "", id="notes"),
    ],
)
def test_other_files_are_left_alone(tmp_path, tables, files, asked):
    before = [[*t.columns] for t in tables]
    added, found, ignored = _add(tmp_path, tables, files, asked)
    assert (added.label, added.group, ignored) == ("", "", [*files]) and [t.columns for t in found] == before


def test_a_table_that_lost_rows_is_refused_and_no_first_number_is_a_name(tmp_path):
    lost = _table("X.csv")
    lost.bad_rows = 1
    numbers = [f"{i}.25" for i in range(_N)]
    for table, lines in ((lost, _LABELS), (_table("X.csv"), ["99.5", *numbers]), (_table("X.csv", _N - 1), numbers)):
        with pytest.raises(UserError, match="no line can be told"):
            _add(tmp_path, [table], {"y.csv": lines})


def test_an_empty_line_is_a_row_without_a_label(tmp_path):
    lines = [*_LABELS[:4], "", *_LABELS[5:], ""]
    _, found, _ = _add(tmp_path, [_table("X.csv")], {"y.csv": lines})
    assert found[0].cells("y") == lines[:_N]
    texts = [f"the {c} field\u2028of day {i}" if i != 9 else "" for i, c in enumerate(_LABELS)]
    (tmp_path / "t_text.txt").write_text("\n".join(texts) + "\n")
    (tmp_path / "t_labels.txt").write_text("\n".join(_LABELS) + "\n")
    sources = [Input(n, tmp_path / n, (tmp_path / n).stat().st_size, "") for n in ("t_text.txt", "t_labels.txt")]
    (table,) = row_by_row.texts(sources)
    assert table.cells("text") == texts


@pytest.mark.parametrize("lines", [_LABELS[:-1], [*_LABELS, "wet"], [str(i) for i in range(_N - 2)]])
def test_labels_of_other_rows_are_refused(tmp_path, lines):
    with pytest.raises(UserError, match=r"y\.csv has .* lines and X\.csv 30 rows") as e:
        _add(tmp_path, [_table("X.csv")], {"y.csv": lines})
    assert e.value.code == "labels_of_other_rows"


@pytest.mark.parametrize(("lines", "targets", "said"), [(_LABELS, _LABELS, "line by line"), (_LABELS[:-1], [""] * _N, "The labels are not used")])
def test_a_prediction_is_scored_by_the_lines_of_a_file(tmp_path, lines, targets, said):
    files = {"X_new.csv": ["depth,flow", *(f"{i}.5,{i * 7 % 11}" for i in range(_N))], "y_new.csv": lines}
    sources = Sources()
    for name, written in files.items():
        (tmp_path / name).write_text("\n".join(written) + "\n")
        sources.tables.append(Input(name, tmp_path / name, (tmp_path / name).stat().st_size, ""))
    columns = Columns(("depth", "flow"), {"depth": NUMBER, "flow": NUMBER}, "y", {})
    events = Events(tmp_path / "events.jsonl", 1)
    examples, _, _ = prediction.cells(registry.of("table"), sources, columns, loading.settings_of("predict", {}), events)
    assert [e.target for e in examples] == targets and said in events.path.read_text()


_SAID = [f"the {c} field of day {i}" for i, c in enumerate(_LABELS)]


@pytest.mark.parametrize(
    ("files", "read"),
    [
        ({"train_text.txt": _SAID, "train_labels.txt": _LABELS, "mapping.txt": ["0\twet", "1\tdry"]}, ["train_text.txt"]),
        ({"sentences.txt": _SAID, "labels.txt": ["0", "1"] * 15}, ["sentences.txt"]),
        (
            {"train_text.txt": _SAID, "train_labels.txt": _LABELS, "test_text.txt": _SAID[:20], "test_labels.txt": _LABELS[:20]},
            ["train_text.txt", "test_text.txt"],
        ),
        ({"text.txt": _SAID, "labels.txt": _LABELS[:-1]}, []),
        ({"text.txt": _SAID, "labels.txt": _SAID}, []),
        ({"numbers.txt": _WHO, "labels.txt": _LABELS}, []),
        ({"text.txt": _SAID, "notes.txt": _LABELS}, []),
    ],
)  # fmt: skip
def test_texts_may_have_their_labels_in_another_file(tmp_path, files, read):
    sources = []
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        sources.append(Input(name, tmp_path / name, (tmp_path / name).stat().st_size, ""))
    tables = row_by_row.texts(sources)
    assert [t.name for t in tables] == read and all(t.cells("text") == files[t.name] for t in tables)
    if read:
        assert row_by_row.add(tables, sources, Ignored(), "").label == "labels" and tables[0].columns == ["text", "labels"]
