"""Rows whose label would teach most: which are chosen, what is written of them, and that a training reads it."""

import csv
import io
import os
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from result_checks import check_success
from small_datasets import flowers, png, table

from trainer.core import registry
from trainer.core.example import Example
from trainer.core.input import Input
from trainer.export import to_label
from trainer.export.finished import Answered
from trainer.measure.next_labels import MOST, choose
from trainer.run import run
from trainer.targets.classes import Classes
from trainer.targets.number import Number

AB = Classes(("a", "b"))


def test_unsure_rows_come_first_where_nothing_tells_them_apart():
    nothing = numpy.zeros((4, 0))
    assert choose(numpy.asarray([0.1, 0.9, 0.0, 0.5]), lambda rows: nothing[rows]).tolist() == [1, 3, 0]


def test_copies_are_chosen_once_and_groups_of_unsure_rows_each_have_one():
    places = numpy.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 50, axis=0)
    chosen = choose(numpy.full(150, 0.8), lambda rows: places[rows])
    assert sorted(int(row) // 50 for row in chosen) == [0, 1, 2]


def test_a_list_is_no_longer_than_a_person_wants_and_the_same_each_time():
    chance = numpy.random.default_rng(0)
    unsure, places = chance.random(3000), chance.normal(size=(3000, 6))
    first, again = (choose(unsure, lambda rows: places[rows]).tolist() for _ in range(2))
    assert first == again and len(set(first)) == MOST
    assert unsure[first].mean() > 0.9, "all are among those of which the model is least sure"


@pytest.mark.parametrize(
    ("target", "outputs", "unsure"),
    [
        (AB, [[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]], [1, 0.2, 0]),
        (Classes(("a", "b"), factors=(1.0, 9.0)), [[0.9, 0.1]], [1]),
        (Classes(("a", "b", "c")), [[0.5, 0.4, 0.1]], [0.9]),
        (Classes(("a",)), [[1.0]], [0]),
    ],
)
def test_how_unsure_an_answer_is(target, outputs, unsure):
    assert target.uncertainty(numpy.asarray(outputs)) == pytest.approx(unsure)


def answered(kind: str, examples: list[Example], target=AB) -> Answered:
    outputs = numpy.tile([[0.55, 0.45], [0.6, 0.4]], (len(examples), 1))[: len(examples)]
    truth = target.encode([e.target for e in examples])
    return Answered(registry.of(kind), examples, outputs, truth, target.known(truth), target)


def listed(of: Answered, columns=(), label="", types=None, styles=None, inputs=()) -> to_label.Listed:
    return to_label.of(SimpleNamespace(inputs=inputs), {"types": types or {}, "styles": styles or {}}, of, columns, label)


def lines(found: to_label.Listed) -> list[dict]:
    return list(csv.DictReader(io.StringIO(found.table)))


def test_files_that_have_a_label_in_clowder_or_in_a_folder_are_left_out(tmp_path):
    names = ["new/1.png", "2.png", "3.png", "a/4.png", "5.png"]
    for i in range(len(names)):
        (tmp_path / str(i)).write_bytes(png(numpy.full((8, 8, 3), 40 * i, numpy.uint8)))
    examples = [Example(name, 0, tmp_path / str(i), "") for i, name in enumerate(names)]
    inputs = [
        Input("new/1.png", tmp_path / "0", 1, "", id="id-1"), Input("2.png", tmp_path / "1", 1, "", id="id-2", label="a"),
        Input("3.png", tmp_path / "2", 1, "", id="id-3", columns=(("species", "b"),)), Input("a/4.png", tmp_path / "3", 1, "", id="id-4"),
    ]  # fmt: skip
    found = listed(answered("image", examples), inputs=inputs)
    assert {line["file"]: line["label"] for line in lines(found)} == {"new/1.png": "", "5.png": ""}
    assert found.found == [{"file": "new/1.png", "id": "id-1", "predicted": "a", "confidence": 0.55}], "the other one is no file of the dataset"
    assert "studio" in found.sections[0].blocks[0].text[1]


def test_rows_have_the_columns_of_the_model_as_they_were_written():
    examples = [Example("rows.csv", i + 2, (f"{i}.5", "red"), "a" if i == 0 else "") for i in range(4)]
    styles = {"width": {"comma": True, "unit": "cm"}}
    found = listed(answered("table", examples), ("width", "colour"), "species", {"width": "number", "colour": "category"}, styles)
    first, *more = lines(found)
    assert set(first) == {"species", "width", "colour", "predicted", "confidence", "in file", "in row"}
    assert first["species"] == "" and {line["width"] for line in (first, *more)} == {"1,5 cm", "2,5 cm", "3,5 cm"}
    assert found.found == [] and "Fill in the column species of next-labels.csv" in found.sections[0].blocks[0].text[1]


@pytest.mark.parametrize("kind", ["text", "tokens"])
def test_nothing_is_listed_where_all_rows_have_labels_or_answers_are_not_classes(kind):
    assert listed(answered(kind, [Example("a.txt", 0, "some words", "b")])) == to_label.Listed()
    numbers = Number.learnt(["1", "2"])
    said = Answered(registry.of("text"), [Example("a.txt", 0, "words", "")], numpy.zeros(1), numpy.zeros(1), numpy.zeros(1, bool), numbers)
    assert listed(said) == to_label.Listed()


def test_a_filled_in_list_is_read_with_the_rows_that_have_labels(make_run, schemas):
    head, *rows = csv.reader(io.StringIO(flowers(120)))
    label = head.index("species")
    known, unknown = rows[:60], [[*r[:label], "", *r[label + 1 :]] for r in rows[60:]]
    first = make_run({"rows.csv": table(head, known + unknown)}, model="linear", label_column="species")
    assert run(str(first), "local") == 0
    model = first.parent / "out" / "model"
    asked = make_run(
        {"rows.csv": table(head, known + unknown)},
        run="pr-next",
        kind="predict",
        more={"model": {"path": os.path.relpath(model, first.parents[1] / "pr-next"), "run": "ft-test"}},
    )
    assert run(str(asked), "local") == 0
    found = (asked.parent / "out" / "next-labels.csv").read_text()
    filled = list(csv.DictReader(io.StringIO(found)))
    assert filled and all(int(line["in row"]) > 61 for line in filled), "rows with a label are not among them"
    for line in filled:
        line["species"] = rows[int(line["in row"]) - 2][label]
    again = make_run(
        {"rows.csv": table(head, known + unknown), "labels.csv": table(list(filled[0]), [list(line.values()) for line in filled])},
        run="ft-again", model="linear", label_column="species",
    )  # fmt: skip
    assert run(str(again), "local") == 0
    result = check_success(again.parent, schemas)
    assert sum(result["data"]["rows"][split] for split in ("train", "validation", "test")) == 60 + len(filled)
    assert sorted(result["data"]["files"]) == ["labels.csv", "rows.csv"]


def test_the_file_of_a_list_is_described(tmp_path: Path):
    found = to_label.Listed(table="a\n")
    found.write(tmp_path)
    assert (tmp_path / to_label.FILE).read_text() == "a\n" and list(found.about) == ["out/next-labels.csv"]
    to_label.Listed().write(tmp_path / "none")
    assert to_label.Listed().about == {}
