"""Cells, names and profiles: the small decisions by which columns and files are recognised."""

import pytest

from trainer.core.input import Input
from trainer.data import names
from trainer.data.columns import dates, profiles, values
from trainer.data.columns.values import Style
from trainer.data.formats.table import Table
from trainer.data.images import Index
from trainer.data.sources import Ignored
from trainer.kinds.rows import unsupported_tasks


@pytest.mark.parametrize(
    ("cell", "comma", "number"),
    [
        ("1,234.5", False, 1234.5), ("1.234,5", True, 1234.5), (" -3 ", False, -3.0), ("12%", False, 12.0), ("1e3", False, 1000.0),
        ("1,2", False, None), ("1.2.3", False, None), ("12a", False, None), ("", False, None), ("-", False, None), ("1e300", False, None),
        ("1" * 70, False, None), (".5", False, 0.5), ("5.", False, 5.0), (",5", True, 0.5),
    ],
)  # fmt: skip
def test_a_cell_as_a_number(cell, comma, number):
    assert values.number(cell, comma) == number


@pytest.mark.parametrize(
    ("cell", "comma", "number"),
    [
        ("$1,234.50", False, 1234.5),
        ("1.234,50 €", True, 1234.5), ("€ 12", False, 12.0), ("12 %", False, 12.0), ("(1,234.50)", False, -1234.5),
        ("($5)", False, -5.0), ("$(5)", False, -5.0), ("-$5", False, -5.0), ("$-5", False, -5.0), ("US$ 3.20", False, 3.2),
        ("CHF 1'234.50", False, 1234.5),
        ("1 234,50 zł", True, 1234.5), ("1\u202f234 kr.", False, 1234.0), ("\u22123", False, -3.0), ("Rs. 500", False, 500.0),
        ("5 apples", False, None),
        ("$", False, None), ("(-5)", False, None),
        ("$5 €", False, None), ("12 34", False, None), ("($5", False, None), ("5)", False, None),
        ("A1", False, None), ("1-2", False, None),
    ],
)  # fmt: skip
def test_an_amount_as_a_number(cell, comma, number):
    assert values.number(cell, comma) == number


def test_an_amount_in_another_unit_is_no_number():
    assert values.as_numbers(["$5", "7", "5 €", "3%"], Style(unit="$")) == ["5.0", "7", "", ""]


@pytest.mark.parametrize(("cells", "comma"), [(["1,5", "2,25", "3"], True), (["1,500", "2,250"], False), (["1.5"], False), (["a, b"], False)])
def test_the_decimal_sign_is_found(cells, comma):
    assert values.uses_comma(cells) is comma


def test_cells_become_what_float_reads():
    assert values.as_numbers(["1", " 2.5"], Style()) == ["1", " 2.5"]  # unchanged, because float reads them
    assert values.as_numbers(["1,000", "x", "nan", "2"], Style()) == ["1000.0", "", "", "2"]
    assert values.as_numbers(["1,5"], Style(comma=True)) == ["1.5"]


@pytest.mark.parametrize(
    ("cell", "label"), [("1.0", "1"), ("01", "01"), (" yes ", "yes"), ("NaN", ""), ("none", "none"), ("1.5", "1.5"), ("-2.00", "-2")]
)
def test_a_cell_as_a_label(cell, label):
    assert values.label(cell) == label


@pytest.mark.parametrize(("cell", "date"), [("2024-01-31", True), ("31.1.24", True), ("2024-01-31 12:30:01", True), ("12:30", False), ("1.5", False)])
def test_dates_are_recognised(cell, date):
    assert dates.is_date(cell) is date


def test_a_sample_is_taken_from_the_whole_column():
    sampled = values.sample(list(range(12_000)))
    assert len(sampled) <= values.SAMPLE
    assert (sampled[0], sampled[-1] > 11_900) == (0, True)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("test.csv", "test"), ("data/val/a.png", "validation"), ("dev_set.tsv", "validation"), ("training-data.csv", "train"), ("latest.csv", None),
        ("contest.csv", None), ("train/test.csv", "test"), ("evaluation.csv", None),
    ],
)  # fmt: skip
def test_the_split_of_a_file_name(name, split):
    assert names.split_of(name) == split


@pytest.mark.parametrize(
    ("name", "identifies"),
    [
        ("id", True),
        ("user_id", True),
        ("Unnamed: 0", True),
        ("column 1", True),
        ("width", False),
        ("idea", False),
        ("paid", False),
        ("Probe-Nr", True),
        ("Lfd. Nr.", True),
        ("Sample No.", True),
        ("Probennummer", True),
        ("leaf no", False),
        ("cell number", False),
    ],
)
def test_names_of_identifiers(name, identifies):
    assert names.is_identifier(name) is identifies


def test_names_are_sorted_as_people_count():
    assert sorted(["b10", "b9", "a", "10", "9"], key=names.natural) == ["9", "10", "a", "b9", "b10"]


@pytest.mark.parametrize(
    ("name", "why"),
    [("a.7z", "use ZIP"), ("a.heic", "use PNG or JPEG"), ("a.pt", "never loaded"), ("a.doc", "save its table as CSV"), ("a.xyz1", "extension")],
)
def test_why_a_file_is_not_read(name, why):
    assert why in names.not_read(name)


@pytest.fixture
def index(tmp_path):
    return Index(
        [Input(name, tmp_path / str(i), 1, "") for i, name in enumerate(["a/1.png", "b/1.png", "c/Two.JPG", " c /x.png ", "Bl\u0075\u0308te.png"])]
    )


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        pytest.param("two.jpg", "c/Two.JPG", id="whatever its case"),
        pytest.param("two", "c/Two.JPG", id="without its extension"),
        pytest.param("./a/1.png", "a/1.png", id="by its path"),
        pytest.param("/data/set/b/1.png", "b/1.png", id="by a longer path"),
        pytest.param("b\\1.png", "b/1.png", id="by a path of Windows"),
        pytest.param("1.png", None, id="a name of two images"),
        pytest.param("Bl\u00fcte.png", "Bl\u0075\u0308te.png", id="an accent in one character"),
        pytest.param("c/x.png", " c /x.png ", id="blanks around the parts"),
        pytest.param("3.png", None, id="no such image"),
        pytest.param("", None, id="an empty cell"),
    ],
)
def test_an_image_is_found_by_its_cell(index, cell, found):
    image = index.find(cell)
    assert (image.name if image else None) == found


def test_a_column_of_labels_is_no_column_of_images(index):
    assert index.holds(["a/1.png", "b/1.png", "two", ""])
    assert not index.holds(["two"] * 10)  # a label that happens to be the name of an image
    assert not index.holds(["", " "])


def _profile(cells: list[str], name: str = "x") -> profiles.Profile:
    return profiles.of([Table("t.csv", [name], [(i, [c]) for i, c in enumerate(cells)])])[name]


@pytest.mark.parametrize(
    ("cells", "name", "what"),
    [
        pytest.param(["yes", "no"] * 20, "x", {"is_class"}, id="two words"),
        pytest.param([str(i % 5) for i in range(50)], "x", {"is_class", "numeric"}, id="few numbers"),
        pytest.param([f"{i * 1.37:.2f}" for i in range(50)], "x", {"is_measure", "numeric"}, id="measured numbers"),
        pytest.param([str(i) for i in range(50)], "x", {"is_identifier", "numeric"}, id="row numbers"),
        pytest.param([str(i * 7) for i in range(50)], "user_id", {"is_identifier", "numeric"}, id="numbers under the name of an identifier"),
        pytest.param([f"u{i}" for i in range(50)], "x", {"is_identifier"}, id="names of rows"),
        pytest.param([f"a longer text of number {i}" for i in range(50)], "x", {"is_free_text"}, id="texts"),
        pytest.param(["I agree with this", "I do not agree"] * 30, "x", set(), id="the answers of a questionnaire"),
        pytest.param([f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(84)], "x", set(), id="dates, each once"),
    ],
)
def test_what_a_column_holds(cells, name, what):
    found = _profile(cells, name)
    kinds = ("is_class", "is_measure", "is_free_text", "is_identifier", "numeric")
    assert {kind for kind in kinds if getattr(found, kind)} == what


def test_ignored_files_keep_their_first_reason_and_are_grouped():
    ignored = Ignored()
    assert not ignored
    for name in ("a.pdf", "b.pdf", "c.pdf", "d.pdf"):
        ignored.add(name, "unreadable")
    ignored.add("a.pdf", "another reason")
    ignored.add("e.csv", "empty")
    assert str(ignored) == "a.pdf, b.pdf, c.pdf and 1 more (unreadable); e.csv (empty)"
    assert ignored.items()[0] == ("a.pdf", "unreadable")


@pytest.mark.parametrize(
    ("words", "tags", "found"),
    [
        pytest.param("['a','b','c']", "['N','V','N']", True, id="lists of the same length"),
        pytest.param("['a','b','c']", "['N','V']", False, id="lists of other lengths"),
        pytest.param("a b c", "", False, id="no tags"),
    ],
)
def test_tagged_words_are_recognised(words, tags, found):
    rows = [(i, [words.replace("a", f"w{i}").replace("b", f"v{i}"), tags]) for i in range(30)]
    table = Table("t.csv", ["words", "tags"], rows)
    seen = profiles.of([table])
    assert unsupported_tasks._tagged([table], seen) == (("words", "tags") if found else None)
