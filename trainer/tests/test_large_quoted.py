"""Large delimited text with quotation marks: read by Arrow where they are as RFC 4180 says, with the cells that ours finds, and by ours elsewhere."""

import csv
import io
import re

import pytest
from hypothesis import HealthCheck, example, given, settings as limits, strategies as st
from test_large_tables import HEAD, NEVER, read, rows, text

from trainer.data.formats import plain, quotations
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.table import Table

_SAME = [HealthCheck.function_scoped_fixture]
_WELL_FORMED = re.compile(r'("([^"]|"")*"|[^",\n]*)([,\n]("([^"]|"")*"|[^",\n]*))*')

_BEGINS = re.compile(r'(\A|[,\n])"')


def written(lines: list[list[str]], delimiter: str = ",", end: str = "\n", quoting=csv.QUOTE_MINIMAL) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(lines)
    return file.getvalue()


@limits(max_examples=200)
@given(st.text('",\n a', max_size=12), st.lists(st.integers(0, 12), max_size=4), st.booleans())
@example('a,"b""",""\n', [4, 5, 6, 7], True)
def test_marks_are_where_they_may_be(content, cuts, quoted):
    """However the text is cut into blocks."""
    places = sorted({min(c, len(content)) for c in cuts} | {0, len(content)})
    marks = quotations.Marks(",", quoted)
    try:
        for a, b in zip(places, places[1:]):
            marks.look(content[a:b].encode())
        marks.close()
        found = True
    except quotations.Misplaced:
        found = False
    assert found is (_WELL_FORMED.fullmatch(content) is not None if quoted else _BEGINS.search(content) is None)
    if found:
        ends = quotations.after_lines(content.encode(), quoted).tolist()
        assert ends == quotations.after_lines(content.encode(), quoted, from_end=True).tolist()
        assert len(ends) + (not content.endswith("\n")) == len(list(csv.reader(io.StringIO(content, newline="")))) + (not content)


_ODD = ["", "1", "2.5", '"', '""', "x\r\ny", "a,b", "name", "Sum of x", "\ufeff"]
_CELL = st.text(st.sampled_from('ab"\n,; \té'), max_size=5) | st.sampled_from(_ODD)
_RAW = ['"', '"a"b', 'a"b', ' "a"', '"a" ', '""', '"",""', '"a",b,"c"', "a,b", "", '"open', '"\r', '"a\rb",c,d', "\x00", '"1","2","3","4"']
_ROW = st.lists(_CELL, min_size=3, max_size=3)


@limits(max_examples=200, deadline=None, suppress_health_check=_SAME)
@given(
    st.sampled_from([",", "\t", ";", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
    st.lists(_ROW, max_size=8),
    st.lists(st.sampled_from(_RAW), max_size=2),
    st.sampled_from(["name,b,c", "b,c", 'na"me,"b\nb",c', "1,2,3"]),
    st.booleans(),
    st.booleans(),
)
def test_quoted_cells_are_those_that_ours_reads(tmp_path, delimiter, end, quoting, lines, raw, names, mark, last_end):
    """With all cells quoted or few, line ends and delimiters in them, doubled marks, and marks in the wrong place."""
    head = next(csv.reader(io.StringIO(names, newline="")))
    body = [[f"n{i}", str(i), f"{i / 3:.2f}"] for i in range(12)]
    content = "\ufeff" * mark + written([head, *body, *lines], delimiter, end, quoting) + "".join(line.replace(",", delimiter) + end for line in raw)
    encoded = (content if last_end else content.rstrip("\r\n")).encode()
    ours = read(tmp_path, encoded, NEVER)
    assert read(tmp_path, encoded, 0)[:2] == ours[:2]


def noted(note) -> list[list[str]]:
    """A table whose rows begin with ``note(i)``."""
    return [["note", *HEAD], *([note(i), *line] for i, line in enumerate(rows(300)))]


def of_r(names: bool) -> list[list[str]]:
    """A table with texts and row names, whose column has a name or none."""
    body = [[f"{i}", f'said ""{i}""', *line] for i, line in enumerate(rows(300), 1)]
    return [["", "note", *HEAD] if names else ["note", *HEAD], *body]


@pytest.mark.parametrize(
    ("content", "reader"),
    [
        pytest.param(written([HEAD, *rows(300)], quoting=csv.QUOTE_ALL), ArrowTable, id="all cells quoted"),
        pytest.param(written([HEAD], quoting=csv.QUOTE_ALL) + text(rows(300)), ArrowTable, id="quoted names"),
        pytest.param(written(of_r(True), quoting=csv.QUOTE_ALL), ArrowTable, id="row names of R"),
        pytest.param(written(of_r(False), "\t", quoting=csv.QUOTE_ALL), ArrowTable, id="a column of row names without a name"),
        pytest.param("\ufeff" + written([HEAD, *rows(300)], ";", "\r\n", csv.QUOTE_ALL), ArrowTable, id="of a spreadsheet program"),
        pytest.param(written([["a", "b\n(m)", *HEAD[2:]], *rows(300)]), ArrowTable, id="a line end in a name"),
        pytest.param(written(noted(lambda i: f"{i},\ntwo\n\n")), ArrowTable, id="several lines in a cell"),
        pytest.param(text(noted(lambda i: '5" pipe'), "\t"), ArrowTable, id="inches"),
        pytest.param(text(noted(lambda i: '5" pipe' if i == 150 else "pipe")), ArrowTable, id="one inch"),
        pytest.param(text(noted(lambda i: '5" pipe' if i % 2 else '"5"')), Table, id="inches and quotations"),
        pytest.param(text(noted(lambda i: '"' if i == 150 else "pipe")), Table, id="an open quotation"),
    ],
)  # fmt: skip
def test_quoted_files_that_are_longer_than_what_is_looked_at_first(tmp_path, monkeypatch, content, reader):
    monkeypatch.setattr(plain, "_ROWS", 20)
    monkeypatch.setattr(plain, "_ENDS", (400, 3000))
    monkeypatch.setattr(plain, "BLOCK", 512)
    found = read(tmp_path, content.encode(), 0)
    assert found[:2] == read(tmp_path, content.encode(), NEVER)[:2]
    assert found[2] is reader or (found[2] is None and reader is Table)
