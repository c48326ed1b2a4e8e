"""Lines whose parts are marked, as fastText and LIBSVM write them."""

import pytest
from hypothesis import given, strategies as st

from trainer.data.formats import marked
from trainer.data.formats.table import NotATable, Table

_TEXTS = "".join(f"__label__{'good' if i % 2 else 'bad'} words of line {i}\n" for i in range(60))
_SPARSE = "".join(f"{'+1' if i % 2 else '-1'} 1:{i}.5 7:1e-3 # {i}\n" for i in range(60))


def _read(text: str) -> Table:
    table = marked.read("a.txt", text)
    assert table is not None
    return table


def test_marked_words_are_the_classes_of_a_text():
    table = _read(_TEXTS)
    assert table.columns == ["label", "text"] and table.rows[1] == (2, ["good", "words of line 1"]) and len(table.rows) == 60
    several = _read(_TEXTS + "\n__label__a __label__b __label__a some,  words\nbehind them __label__c\n__label__alone\nno class\n")
    assert [row for _, row in several.rows[60:]] == [["a;b", "some, words"], ["c", "behind them"]]
    assert (several.bad_rows, several.first_bad) == (2, 64)


def test_numbered_values_are_columns_and_what_is_not_there_is_0():
    table = _read(_SPARSE + "-1 2:4\n\n# a comment\n+1 7:x\n")
    assert table.columns == ["value 1", "value 2", "value 7", "label"] and table.absent == "0"
    assert table.rows[1] == (2, ["1.5", "0", "1e-3", "+1"]) and table.rows[60] == (61, ["0", "4", "0", "-1"])
    assert (table.bad_rows, table.first_bad) == (1, 64)
    ranks = _read("".join(f"{i % 3} qid:{i // 2} 1:{i} 3:2\n" for i in range(8)))
    assert ranks.columns == ["query", "value 1", "value 3", "label"] and ranks.rows[3] == (4, ["1", "3", "2", "0"])
    assert _read("".join(f"1,{i} 1:2\n" for i in range(8))).rows[3] == (4, ["2", "1;3"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n" * 9,
        _TEXTS[:120],
        "12:30 15:40\n" * 9,
        "1 2\n" * 9,
        "meet at 10:30\n" * 9,
        "word:1 other:2\n" * 9,
        "1 1:2\n" * 5 + "1 text\n" * 5,
        f"1 {'1' * 5000}:2\n" * 9,
    ],
)
def test_other_lines_are_left_to_others(text):
    assert marked.read("a.txt", text) is None


def test_what_does_not_fit_is_refused():
    with pytest.raises(NotATable, match="20,001 numbered values"):
        marked.read("a.txt", "".join(f"1 {i}:1\n" for i in range(20_001)))


@given(st.lists(st.text(alphabet="__label__ab 01:.,#-+e\t\n\0", max_size=40), max_size=60).map("\n".join))
def test_any_text_is_a_table_or_none(text):
    try:
        table = marked.read("a.txt", _SPARSE + text)
        other = marked.read("a.txt", _TEXTS + text)
    except NotATable:
        return
    for found in (table, other):
        assert found is None or all(len(row) == len(found.columns) for _, row in found.rows)
