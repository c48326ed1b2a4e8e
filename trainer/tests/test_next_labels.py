"""Rows whose label would teach most: which are chosen, what is written of them, and that a training reads it."""

import csv
import io
import json
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
from trainer.kinds.label_sets.target import Labels
from trainer.measure.next_labels import EVENLY, MOST, POOL, choose, evenly, most_unsure
from trainer.run import run
from trainer.targets.classes import Classes
from trainer.targets.number import Number

AB = Classes(("a", "b"))


def chosen(uncertainty, places) -> numpy.ndarray:
    unsure = numpy.asarray(uncertainty, float)
    return choose(*most_unsure(numpy.arange(len(unsure)), unsure), lambda rows: places[rows])


def test_unsure_rows_come_first_where_nothing_tells_them_apart():
    assert chosen([0.1, 0.9, 0.0, 0.5], numpy.zeros((4, 0))).tolist() == [1, 3, 0]


def test_copies_are_chosen_once_and_groups_of_unsure_rows_each_have_one():
    places = numpy.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 50, axis=0)
    assert sorted(int(row) // 50 for row in chosen(numpy.full(150, 0.8), places)) == [0, 1, 2]


def test_a_list_is_no_longer_than_a_person_wants_and_the_same_each_time():
    chance = numpy.random.default_rng(0)
    unsure, places = chance.random(3000), chance.normal(size=(3000, 6))
    first, again = (chosen(unsure, places).tolist() for _ in range(2))
    assert first == again and len(set(first)) == MOST
    assert unsure[first].mean() > 0.9, "all are among those of which the model is least sure"


def test_rows_near_labelled_ones_come_last():
    places = numpy.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 50, axis=0) + numpy.arange(150)[:, None] / 1000
    pool, labelled = numpy.arange(2, 150), numpy.asarray([0, 1])
    found = choose(pool, numpy.ones(len(pool)), lambda rows: places[rows], labelled)
    assert sorted(int(row) // 50 for row in found[:2]) == [1, 2], "the first group has labels"


def test_a_pool_is_from_all_over_the_rows():
    rows = numpy.arange(7, 9000)
    found = evenly(rows)
    assert len(set(found.tolist())) == EVENLY and (found[0], found[-1]) == (7, 8999) and numpy.diff(found).max() < 20
    assert evenly(rows[:9]).tolist() == rows[:9].tolist() and len(most_unsure(rows, numpy.ones(len(rows)))[0]) == POOL


@pytest.mark.parametrize(
    ("target", "outputs", "unsure"),
    [
        (AB, [[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]], [1, 0.2, 0]),
        (Classes(("a", "b"), factors=(1.0, 9.0)), [[0.9, 0.1]], [1]),
        (Classes(("a", "b", "c")), [[0.5, 0.4, 0.1]], [0.9]),
        (Classes(("a",)), [[1.0]], [0]),
        (Labels(("a", "b")), [[0.5, 0.5, 1, 1], [1.0, 0.0, 1, 0], [0.5, 1.0, 0, 1], [0.11, 0.89, 0, 1]], [1, 0, 0.5, 0.5]),
    ],
)
def test_how_unsure_an_answer_is(target, outputs, unsure):
    assert target.uncertainty(numpy.asarray(outputs)) == pytest.approx(unsure, abs=1e-3)


def test_how_people_write_labels_is_said_in_the_form_of_the_contract():
    assert Number.learnt(["1", "2"]).uncertainty(numpy.zeros(3)) is None
    forms = [t.label_form() for t in (AB, Number.learnt(["1", "2"]), Labels(("a", "b"), "|"))]
    assert forms == [{}, {"number": True}, {"separator": "|", "none": "(none)"}]


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


def test_a_row_that_a_filled_in_list_has_as_well_is_not_listed_again():
    rows = [Example("rows.csv", i + 2, (f"{i}", "red"), "") for i in range(4)]
    filled = [Example("filled.csv", 2, ("1", "red"), "b")]

    def widths(of: list[Example]) -> set[str]:
        return {line["width"] for line in lines(listed(answered("table", of), ("width", "colour"), "species", {"width": "number"}))}

    assert widths(rows) == {"0", "1", "2", "3"} and widths(rows + filled) == {"0", "2", "3"}


def test_nothing_is_listed_where_all_rows_have_labels():
    assert listed(answered("text", [Example("a.txt", 0, "some words", "b")])) == to_label.Listed()


def test_numbers_are_asked_for_where_no_labelled_row_is_near():
    texts = [f"wren {i} sings" for i in range(4)] + [f"heron {i} wades" for i in range(4)]
    examples = [Example("rows.csv", i + 2, text, "3" if i < 2 else "") for i, text in enumerate(texts)]
    numbers = Number.learnt(["1", "2"])
    truth = numbers.encode([e.target for e in examples])
    found = listed(Answered(registry.of("text"), examples, numpy.arange(8.0), truth, numbers.known(truth), numbers), ("text",))
    said = lines(found)
    assert set(said[0]) == {"label", "text", "predicted", "in file", "in row"}, "a number has no probability"
    assert said[0]["text"].startswith("heron") and {line["in row"] for line in said} <= {str(i + 2) for i in range(2, 8)}
    assert [c.title for c in found.sections[0].blocks[1].columns] == ["Row", "Content", "Answer"]


def blooms(rows: int) -> tuple[list[str], list[list[str]], str]:
    head, *found = csv.reader(io.StringIO(flowers(rows)))
    return head, found, "species"


def heights(rows: int) -> tuple[list[str], list[list[str]], str]:
    head, found, _ = blooms(rows)
    return head, [[r[0] or "4.2", *r[1:]] for r in found], head[0]


def songs(rows: int) -> tuple[list[str], list[list[str]], str]:
    birds = ("wren", "robin", "heron")
    of = [[b for place, b in enumerate(birds) if (i + 1) % (place + 2) == 0] for i in range(rows)]
    said = [f"{i} heard {' and '.join(b) or 'nothing'} by day {i % 7}" for i, b in enumerate(of)]
    return ["text", "birds"], [[text, "; ".join(b) or "(none)"] for text, b in zip(said, of, strict=True)], "birds"


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (blooms, {"model": "linear"}),
        (heights, {"model": "linear"}),
        (songs, {"model": "words", "task": "multi-label-classification"}),
    ],
)
def test_a_filled_in_list_is_read_with_the_rows_that_have_labels(make, settings, make_run, schemas):
    head, rows, column = make(120)
    label = head.index(column)
    known, unknown = rows[:60], [[*r[:label], "", *r[label + 1 :]] for r in rows[60:]]
    first = make_run({"rows.csv": table(head, known + unknown)}, label_column=column, **settings)
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
        line[column] = rows[int(line["in row"]) - 2][label]
    again = make_run(
        {"rows.csv": table(head, known + unknown), "labels.csv": table(list(filled[0]), [list(line.values()) for line in filled])},
        run="ft-again", label_column=column, **settings,
    )  # fmt: skip
    assert run(str(again), "local") == 0
    result = check_success(again.parent, schemas)
    assert sum(result["data"]["rows"][split] for split in ("train", "validation", "test")) == 60 + len(filled)
    assert sorted(result["data"]["files"]) == ["labels.csv", "rows.csv"]


@pytest.mark.parametrize(
    ("labels", "task", "form"),
    [
        (["robin;wren", "(none)", "wren"], "multi-label-classification", {"separator": ";", "none": "(none)"}),
        (["robin, wren", "(none)", "wren"], "multi-label-classification", {"separator": ",", "none": "(none)"}),
        (["12.5", "3", "7.25"], "text-regression", {"number": True}),
    ],
)
def test_labels_of_files_go_in_a_circle(labels, task, form, make_run, schemas):
    """The labels are as the service reads what the studio wrote (internal/studio/labels/section_test.go)."""

    def words(label: str) -> str:
        return label.replace(";", " ").replace(",", " ")

    of = [labels[i % 3] for i in range(45)]
    texts = {f"{i}.txt": f"We heard {words(label)} in the {('oak', 'elm', 'ash')[i // 15]} {i}." for i, label in enumerate(of)}
    given = {f"{i}.txt": label for i, label in enumerate(of) if i < 30}

    def started(spec: Path) -> int:
        found = json.loads(spec.read_text())
        found["inputs"] = [{**f, **({"label": given[f["name"]]} if f["name"] in given else {})} for f in found["inputs"]]
        spec.write_text(json.dumps(found))
        return run(str(spec), "local")

    first = make_run({n: t for n, t in texts.items() if n in given}, more_options="data.label_from: metadata.heard\n", task=task, model="words")
    assert started(first) == 0
    model = first.parent / "out" / "model"
    more = {"model": {"path": os.path.relpath(model, first.parents[1] / "pr-next"), "run": "ft-test"}}
    asked = make_run(texts, run="pr-next", kind="predict", more=more)
    assert started(asked) == 0
    result = json.loads((asked.parent / "result.json").read_text())
    schemas["result"].validate(result)
    said = result["prediction"]
    assert said["label_form"] == form
    listed = {f["file"] for f in said["next_labels"]}
    assert listed and listed.isdisjoint(given), "files with a label are not listed"


def test_the_file_of_a_list_is_described(tmp_path: Path):
    found = to_label.Listed(table="a\n")
    found.write(tmp_path)
    assert (tmp_path / to_label.FILE).read_text() == "a\n" and list(found.about) == ["out/next-labels.csv"]
    to_label.Listed().write(tmp_path / "none")
    assert to_label.Listed().about == {}
