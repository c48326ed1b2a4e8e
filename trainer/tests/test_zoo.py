"""Every row of the zoo comes out as it says, each rule has a counterexample, and docs/zoo.md is up to date."""

import pytest

from trainer.tests import zoo
from trainer.tests.zoo import damage, page, reading
from trainer.tests.zoo.row import Reads, Refused, Row


@pytest.mark.parametrize("row", zoo.rows(), ids=lambda row: row.name)
def test_a_row_comes_out_as_it_says(row, tmp_path):
    assert not reading.differences(row, reading.read(row, tmp_path))


@pytest.mark.parametrize("row", zoo.rows(), ids=lambda row: row.name)
def test_a_row_with_damaged_files_is_read_or_refused(row, tmp_path):
    assert not damage.crash(row, 0, tmp_path)


def test_each_rule_has_a_counterexample():
    rules, spared = ({getattr(row, name) for row in zoo.rows()} - {""} for name in ("rule", "spares"))
    assert not rules - spared, "add a row that looks alike and must not trigger the rule"
    assert not spared - rules, "no row triggers the rule"


def test_the_page_is_up_to_date():
    written = page.FILE.read_text(encoding="utf-8") if page.FILE.exists() else ""
    assert page.text(zoo.topics()) == written, "run: python -m trainer.tests.zoo --docs"


def test_what_differs_is_named(tmp_path):
    def make(folder):
        (folder / "notes.xyz").write_text("nothing")

    row = Row("none", "", "", "", "", make, Reads(task="tabular-classification"))
    refused = reading.read(row, tmp_path)
    assert "no_table" in reading.differences(row, refused)[0]
    other = Row("none", "", "", "", "", make, Refused("one_class"))
    assert "not one_class" in reading.differences(other, refused)[0]
