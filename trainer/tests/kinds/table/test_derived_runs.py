"""A run of a table with dates, texts, names and lists: the delivered model answers the same in bulk, one by one, and by its lines of Python."""

import contextlib
import csv
import io

import numpy
import pytest
from conftest import ROOT, events_of
from result_checks import check_success
from small_datasets import visits

from trainer import estimators
from trainer.answer.model import Model
from trainer.run import run

CODE = ROOT / "trainer" / "kinds" / "table" / "snippets" / "columns.py"


@pytest.mark.parametrize("numbers", [True, False], ids=["numbers", "classes"])
def test_a_table_of_all_columns(make_run, schemas, monkeypatch, numbers):
    spec = make_run({"visits.csv": visits(numbers, 30)}, label_column="outcome")
    assert run(str(spec), "local") == 0
    result, folder = check_success(spec.parent, schemas), spec.parent / "out" / "model"
    assert set(result["model"]["columns"]) >= {"visited", "note", "town", "goods"}
    assert result["usage"]["snippet"] == "table/columns" and not list(folder.rglob("*.pkl"))
    said = [e["why"] for e in events_of(spec.parent) if e.get("what") == "columns_by_loss"]
    assert sum(" used: the loss on held-out rows is " in why for why in said) >= 2
    model = Model(folder)
    rows = list(csv.DictReader(io.StringIO(visits(numbers, 30))))[:40]
    rows[0] |= {"visited": "9999-12-31", "town": "", "goods": "gold", "note": "unseen words"}
    asked = [
        [{"name": c.name, "shape": [1], "datatype": c.datatype, "data": [float(row[c.name]) if c.datatype == "FP64" else row[c.name]]}
         for c in model.form.columns]
        for row in rows
    ]  # fmt: skip
    examples = [model.form.examples(inputs)[0] for inputs in asked]
    together = estimators.of(result["model"]["base"]).load(folder).outputs(examples)
    alone = [model.answer(inputs) for inputs in asked]
    assert numpy.allclose(numpy.concatenate([model._answers.outputs([e]) for e in examples]), together, rtol=1e-5)
    monkeypatch.chdir(folder.parent)
    (folder.parent / "a table of yours.csv").write_text(visits(numbers, 30))
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(CODE.read_text(), "columns", "exec"), names)
    found = [names["predict"](row) for row in rows]
    if numbers:
        assert numpy.allclose(found, together, rtol=1e-5)
        assert [a[0]["data"][0] for a in alone] == pytest.approx(found, rel=1e-5)
    else:
        assert [a[0]["data"][0] for a in alone] == found
