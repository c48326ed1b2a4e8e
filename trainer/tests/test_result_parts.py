"""What a run delivers, from made-up answers: the tables and figures of a prediction, and the parts of a training's result."""

import csv
import io
import json
import shutil
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from conftest import events_of

from trainer import export
from trainer.config import settings as options, spec as specs
from trainer.core import registry
from trainer.core.example import Example
from trainer.errors import UserError
from trainer.export import Answered, Asking, RowsRead, answer_lines, prediction_results, results, tested, training_results
from trainer.kinds.graph.target import Links
from trainer.kinds.language.target import Tokens
from trainer.measure.predictions import Predictions
from trainer.run_folder import lease as leases
from trainer.run_folder.events import Events
from trainer.targets.classes import Classes
from trainer.targets.number import Number

TEXT = registry.of("text")
YES_NO = Classes(("no", "yes"))
COLOURS = Classes(("blue", "green", "red"))
CHANCES = numpy.array([[0.1, 0.2, 0.7], [0.4, 0.35, 0.25], [0.0, 1.0, 0.0]], numpy.float32)


def rows(*targets: str, row: int = 2, **more) -> list[Example]:
    return [Example("t.csv", row and row + i, f"text {i}", target, **more) for i, target in enumerate(targets)]


def answered(target=COLOURS, outputs=CHANCES, targets=("red", "", "blue"), **more) -> Answered:
    truth = target.encode(list(targets))
    known = numpy.array([t != "" for t in targets])
    return Answered(TEXT, rows(*targets, **more), outputs, truth, known, target)


def asked(top_k: int = 1, min_confidence: float = 0.0, **more) -> SimpleNamespace:
    return SimpleNamespace(top_k=top_k, min_confidence=min_confidence, seed=1, **more)


def lines(settings, found: Answered) -> list[dict]:
    layout = answer_lines.layout(settings, found, ["text"], False)
    return list(csv.DictReader(io.StringIO("".join(answer_lines.table(layout, found, None)))))


def summary_of(found: Answered, **more) -> dict:
    return found.target.overview(found.outputs, asked(**more))


def test_a_prediction_has_a_line_for_each_row_with_its_confidence():
    found = lines(asked(), answered())
    assert list(found[0]) == ["file", "row", "content", "label", "predicted", "confidence"]
    assert [(r["row"], r["label"], r["predicted"], r["confidence"]) for r in found] == [
        ("2", "red", "red", "0.7000"),
        ("3", "", "blue", "0.4000"),
        ("4", "blue", "green", "1.0000"),
    ]


@pytest.mark.parametrize(("top_k", "choices"), [(1, 0), (2, 1), (3, 2), (99, 2)])
def test_a_prediction_lists_the_next_likely_classes_as_far_as_there_are_some(top_k, choices):
    found = lines(asked(top_k), answered())
    assert sum(name.startswith("choice") for name in found[0]) == choices
    if choices == 2:
        assert [found[1][name] for name in ("choice 2", "probability 2", "choice 3", "probability 3")] == ["green", "0.3500", "red", "0.2500"]


@pytest.mark.parametrize(("least", "unsure"), [(0.0, None), (0.4, ["no", "no", "no"]), (0.5, ["no", "yes", "no"]), (1.0, ["yes", "yes", "no"])])
def test_answers_below_the_confidence_that_is_asked_for_are_unsure(least, unsure):
    found = lines(asked(min_confidence=least), answered(outputs=CHANCES.astype(numpy.float64)))
    assert [r.get("unsure") for r in found] == (unsure or [None] * 3)
    summary = summary_of(answered(outputs=CHANCES.astype(numpy.float64)), min_confidence=least)
    assert (summary["unsure"], summary["min_confidence"]) == ((unsure or []).count("yes"), least)


def test_labels_and_ids_have_columns_only_where_there_are_some():
    assert "label" not in lines(asked(), answered(targets=("", "", "")))[0]
    found = lines(asked(), answered(id="=1+1"))
    assert list(found[0])[:4] == ["file", "row", "id", "content"]
    assert found[0]["id"] == "'=1+1"


def test_a_prediction_of_numbers_has_no_confidence_and_no_choices():
    found = answered(Number(0.0, 1.0), numpy.array([1.5, -2e7]), ("1", "2"))
    assert [r["predicted"] for r in lines(asked(3, 0.9), found)] == ["1.5", "-2e+07"]
    assert list(lines(asked(3, 0.9), found)[0]) == ["file", "row", "content", "label", "predicted"]
    summary = summary_of(found)
    assert list(summary) == ["values"] and sum(summary["values"]["counts"]) == 2


def test_the_counts_of_a_prediction_name_every_class_in_its_order():
    summary = summary_of(answered())
    assert list(summary["counts"].items()) == [("blue", 1), ("green", 1), ("red", 1)]
    none = answered(outputs=CHANCES[:0], targets=())
    assert list(summary_of(none)["counts"].values()) == [0, 0, 0]
    assert lines(asked(), none) == []


MODEL = SimpleNamespace(
    description={"kind": "text", "base": "bert-tiny", "task": "text-classification", "test": {"accuracy": {"value": 0.9}}},
    version=SimpleNamespace(run="ft-0", name="colours", version=3),
)
ASKING: Any = SimpleNamespace(settings=asked(), model=MODEL)


def test_only_rows_with_a_known_label_are_scored():
    scored = prediction_results._scores(ASKING, answered(), "colour")
    assert (scored["label_column"], scored["trained_scores"]) == ("colour", MODEL.description["test"])
    assert scored["scores"]["accuracy"]["value"] == 0.5
    assert prediction_results._scores(ASKING, answered(targets=("", "", "")), "colour") == {}


def test_written_answers_are_right_whatever_their_spaces_are():
    texts = numpy.array(["a  b", "c", "d"], dtype=object)
    found = Answered(registry.of("language"), rows("a b", " c ", "e"), texts, numpy.zeros((3, 2)), numpy.array([True, True, True]), Tokens())
    scores = prediction_results._scores(ASKING, found, "answer")["scores"]
    assert scores["exact_match"]["value"] == pytest.approx(2 / 3)
    assert summary_of(found)["values"]["unit"] == "words"


def test_the_samples_of_a_prediction_are_its_first_rows_with_their_labels():
    many = answered(outputs=numpy.tile(CHANCES, (10, 1)), targets=("red", "", "blue") * 10)
    found = prediction_results._samples(many, ["text"])
    assert len(found) == prediction_results.SAMPLES
    assert found[0] == {"file": "t.csv", "row": 2, "content": "text 0", "predicted": "red", "confidence": 0.7, "label": "red"}
    assert "label" not in found[1]


@pytest.fixture
def start(make_run):
    """start(files, **more) is a start of a run: its spec, which has a lease, and its events."""

    def of(files: dict, kind: str = "train", more: dict | None = None, **parameters):
        spec = specs.load(make_run(files, kind=kind, more=more, **parameters))
        lease = leases.take(spec.work)
        return replace(spec, work=lease.folder), Events(spec.folder / "events.jsonl", 1, lease)

    return of


VERSIONS = {"python": "3.11", "torch": "2", "transformers": "4", "tokenizers": "1", "safetensors": "1", "ray": "2"}
MORE = {"model": {"path": "../../registry/m1", "run": "ft-0", "name": "colours", "version": 3}}


@pytest.mark.parametrize("row", [0, 2], ids=["files", "rows of a table"])
def test_a_prediction_publishes_its_table_and_a_result_that_fits_the_schema(start, schemas, row):
    spec, events = start({"a.txt": "x", "b.txt": "y"}, kind="predict", more=MORE, min_confidence=0.5)
    settings = options.of(spec, events)
    found = Answered(
        TEXT,
        [Example("a.txt", row, "x", ""), Example("c.txt", row, "z", "")],
        CHANCES[:2],
        numpy.array([-1, -1]),
        numpy.array([False, False]),
        COLOURS,
    )
    export.prediction(Asking(spec, settings, MODEL, events, 0.0), found, RowsRead(["a.txt", "b.txt"], ["text"], 1, ""), VERSIONS)
    result = json.loads((spec.folder / "result.json").read_text())
    schemas["result"].validate(result)
    told = result["prediction"]
    assert (told["rows"], told["skipped"], told["files"], told["unsure"]) == (2, 1, ["a.txt", "b.txt"], 1)
    assert told["model"] == {"run": "ft-0", "name": "colours", "version": 3, "base": "bert-tiny", "labels": ["blue", "green", "red"]}
    assert "scores" not in told and told["mean_confidence"] == pytest.approx(float(found.confidence.mean()), abs=1e-4)
    if row:
        assert "per_file" not in told
    else:  # each file is an example: its answer becomes metadata of the file
        assert [(f["file"], f.get("id"), f["predicted"]) for f in told["per_file"]] == [("a.txt", "file0", "red"), ("c.txt", None, "blue")]
    assert [a["path"] for a in result["artifacts"]] == ["out/next-labels.csv", "out/predictions.csv"], "no row has a label"
    assert results.already_done(spec)
    assert not (spec.work / "out").exists()


def test_a_result_is_not_done_after_any_change(start):
    spec, events = start({"a.txt": "x"}, kind="predict", more=MORE)
    assert not results.already_done(spec)
    (spec.work / "out").mkdir()
    (spec.work / "out" / "a.csv").write_text("abc")
    results.finish(spec, options.of(spec, events), "prediction", "text-classification", events, 0.0)
    assert results.already_done(spec)
    assert not results.already_done(replace(spec, run="ft-other"))
    result = spec.folder / "result.json"
    whole = result.read_text()
    for damaged in ("", "[]", "{}", whole.replace('"schema": 3', '"schema": 1').replace('"schema":3', '"schema":1'), whole[:-5]):
        result.write_text(damaged)
        assert not results.already_done(spec)
    result.write_text(whole)
    (spec.folder / "out" / "a.csv").write_text("abd")
    assert not results.already_done(spec)
    shutil.rmtree(spec.folder / "out")
    assert not results.already_done(spec)


def test_a_start_that_has_lost_its_lease_publishes_nothing(start):
    spec, events = start({"a.txt": "x"}, kind="predict", more=MORE)
    settings = options.of(spec, events)
    leases.take(spec.folder / "work")
    with pytest.raises((leases.LeaseLost, OSError)):
        results.finish(spec, settings, "prediction", "text-classification", events, 0.0)
    assert not (spec.folder / "result.json").exists() and not (spec.folder / "out").exists()


def test_a_result_has_each_warning_once_and_no_empty_parts(start):
    spec, events = start({"a.txt": "x"}, kind="predict", more=MORE)
    for text in ("one", "two", "one"):
        events.warning("slow", text)
    settings = options.of(spec, events)
    results.finish(spec, settings, "prediction", "t", events, 0.0, warnings=[{"code": "slow", "text": "two"}], language=None, place=results.PARTIAL)
    document = json.loads((spec.folder / "partial.json").read_text())
    assert [w["text"] for w in document["warnings"]] == ["one", "two"]
    assert "language" not in document and document["checks"] == [] and document["artifacts"] == []
    assert not (spec.folder / "result.json").exists()


def test_a_result_without_room_names_the_remedy(monkeypatch):
    monkeypatch.setattr(results, "RESULT_BYTES", 50)
    with pytest.raises(UserError, match="too large") as refused:
        results._readable({"task": "x" * 100, "mistakes": [1]})
    assert refused.value.code == "large_result" and "shorter labels" in refused.value.do


def test_many_long_columns_are_listed_in_short():
    found = results.columns(f"column {i} " + "x" * 600 * (i == 0) + "\n" for i in range(results.COLUMNS + 5))
    assert len(found) == results.COLUMNS
    assert len(found[0]) <= 500 and found[1].strip() == "column 1" and "\n" not in found[1]


def data(targets: list[str], kind: str = "text", **more) -> SimpleNamespace:
    found = rows(*targets)
    labels = tuple(sorted(set(targets)))
    return SimpleNamespace(
        **{
            "splits": {"train": found, "validation": [], "test": found}, "kind": registry.of(kind), "columns": ("text",),
            "files": ["t.csv"], "labels": labels, "not_read": [],
            "label_column": "label", "split_sha256": "0" * 64, "dropped": [("empty", 2)],
            "counts": lambda: {label: targets.count(label) for label in labels}, **more,
        }
    )  # fmt: skip


def test_the_data_of_a_result_has_classes_with_their_counts_or_figures_of_the_numbers():
    described = {"data": {"truncated_share": 0.5}}
    classes = results.data_of(data(["yes", "no", "yes"]), described, [], YES_NO)
    assert classes["labels"] == {"no": 1, "yes": 2} and "target" not in classes
    assert classes["rows"] == {"train": 3, "validation": 0, "test": 3}
    assert (classes["dropped"], classes["truncated_share"]) == ([{"reason": "empty", "rows": 2}], 0.5)
    numbers = results.data_of(data(["3", "1", "8", "4"], labels=()), described, [], Number(4.0, 2.0))
    assert numbers["target"] == {"min": 1, "max": 8, "mean": 4, "median": 4} and "labels" not in numbers
    for target in (Tokens(), Links()):
        found = results.data_of(data(["", ""], labels=()), described, [], target)
        assert "labels" not in found and "target" not in found


@pytest.mark.parametrize(
    ("predicted", "truth", "target", "rate", "told"),
    [
        ([1, 1, 1], [0, 1, 1], YES_NO, 0.1, "predicts yes for every row: it did not learn to distinguish the classes. Set a smaller learning_rate"),
        ([0, 0], [0, 1], YES_NO, 0, "predicts no for every row: it did not learn to distinguish the classes. More epochs or more examples"),
        ([1, 0, 1], [0, 1, 1], YES_NO, 0, ""),
        ([1, 1], [1, 1], YES_NO, 0, ""),
        ([2.0, 2.0], [1.0, 3.0], Number(2.0, 1.0), 0, ""),
    ],
    ids=["a rate of a person", "a chosen rate", "several classes", "one class in the data", "numbers"],
)
def test_a_model_that_answers_always_the_same_is_warned_about(tmp_path, predicted, truth, target, rate, told):
    events = Events(tmp_path / "events.jsonl", 1)
    train = Predictions(numpy.array(truth), numpy.array(predicted))
    training_results._warn_single_class(train, target, SimpleNamespace(learning_rate=rate), events)
    found = [e["text"] for e in events_of(tmp_path)] if events.path.exists() else []
    assert len(found) == bool(told) and all(told in text for text in found)


SIMPLE = SimpleNamespace(predictions=None)


def predictions(truth: list[int], chances: list[list[float]]) -> Predictions:
    return Classes(tuple("abc"[: len(chances[0])])).answers(numpy.array(chances), numpy.array(truth))


def test_the_details_of_two_classes_have_curves_and_those_of_three_have_not():
    two = predictions([1, 0, 1], [[0.2, 0.8], [0.4, 0.6], [0.9, 0.1]])
    found = tested.details(data(["yes", "no", "yes"]), YES_NO, two, SIMPLE)
    assert found["binary"]["positive"] == "yes" and found["confusion"] == [[0, 1], [1, 1]]
    assert [e["row"] for e in found["mistakes"]] == [4, 3]  # the most confident first
    assert [e["row"] for e in found["unsure"]] == [3, 2, 4]
    assert found["mistakes"][0] == {"file": "t.csv", "row": 4, "content": "text 2", "label": "yes", "predicted": "no", "confidence": 0.9}
    three = predictions([2, 0, 1], CHANCES.tolist())
    assert tested.details(data(["red", "blue", "green"]), COLOURS, three, SIMPLE)["binary"] is None


def test_a_label_is_doubted_where_both_models_say_another_one():
    test = predictions([1, 1, 0], [[0.9, 0.1], [0.7, 0.3], [0.9, 0.1]])
    other = SimpleNamespace(predictions=predictions([1, 1, 0], [[0.6, 0.4], [0.6, 0.4], [0.6, 0.4]]))
    found = tested.details(data(["yes", "yes", "no"]), YES_NO, test, other)["mistakes"]
    assert [(e["row"], e.get("label_doubted", False)) for e in found] == [(2, True), (3, False)]
    assert not any("label_doubted" in e for e in tested.details(data(["yes", "yes", "no"]), YES_NO, test, SIMPLE)["mistakes"])


def test_the_details_of_numbers_have_the_largest_errors_first_and_no_confidence():
    test = Predictions(numpy.array([1.0, 2.0, 3.0]), numpy.array([1.5, 2.0, 0.0]))
    found = tested.details(data(["1", "2", "3"], labels=()), Number(2.0, 1.0), test, SIMPLE)
    assert [(e["row"], e["label"], e["predicted"]) for e in found["mistakes"]] == [(4, "3", "0"), (2, "1", "1.5")]
    assert found["unsure"] is None and "confusion" not in found
    assert found["regression"]["points"] == [[1, 1.5], [2, 2], [3, 0]]


def test_there_are_no_details_without_test_rows():
    empty = Predictions(numpy.zeros(0, int), numpy.zeros(0, int), numpy.zeros(0), numpy.zeros(0), numpy.zeros((0, 2)))
    assert tested.details(data([]), YES_NO, empty, SIMPLE) == {}


@pytest.mark.parametrize(
    ("champion", "wanted"),
    [
        (None, {"comparable": False, "why": "It reads other columns."}),
        (predictions([0, 1], [[0.9, 0.1], [0.2, 0.8]]), {"comparable": True}),
    ],
)
def test_a_champion_is_measured_on_the_same_rows_or_the_reason_is_told(champion, wanted):
    version = SimpleNamespace(run="ft-0", name="colours", version=3)
    plan = SimpleNamespace(target=YES_NO, champion=SimpleNamespace(why="It reads other columns."), settings=SimpleNamespace(seed=1))
    found = training_results.compared_champion(SimpleNamespace(champion=version), plan, SimpleNamespace(champion=champion))
    scores = found.pop("test", None)
    assert found == {"run": "ft-0", "name": "colours", "version": 3, **wanted}
    assert (scores["accuracy"]["value"] if scores else None) == (1.0 if champion is not None else None)
    assert training_results.compared_champion(SimpleNamespace(champion=None), plan, SimpleNamespace()) is None


@pytest.mark.parametrize(
    ("versions", "sentence"),
    [
        ({"torch": "2.9", "transformers": "4.57"}, "it trains on CPU, can write to the shared folder and has torch 2.9 and transformers 4.57."),
        ({"torch": "2.9"}, "can write to the shared folder and has torch 2.9."),
        ({"scikit-learn": "1.7"}, "needs no worker: it is trained on one CPU of the driver, with scikit-learn 1.7."),
    ],
)
def test_a_dry_run_says_what_would_train(start, versions, sentence):
    spec, events = start({"a.csv": "text,label\n"}, dry_run=True)
    settings = options.of(spec, events)
    trial = SimpleNamespace(seconds=12.345, device="cpu", hardware={"cpu": "x", "cores": 2, "memory_bytes": 1}, versions=versions)
    checked = data(["yes", "no"], task="text-classification", checks=[{"code": "rows", "level": "ok", "text": "There are 2 rows."}])
    export.check(SimpleNamespace(spec=spec, events=events, began=0.0), settings, checked, None, trial, {"sections": []})
    result = json.loads((spec.folder / "result.json").read_text())
    assert [c["code"] for c in result["checks"]] == ["worker", "rows"]
    assert result["checks"][0]["text"].endswith(sentence)
    assert (result["kind"], result["estimate_seconds"], result["unit"], result["sections"]) == ("check", 12.3, "text", [])


@pytest.mark.parametrize(("upload", "there"), [("everything", True), ("model", False)])
def test_the_files_of_tensorboard_are_delivered_where_everything_is_wanted(tmp_path, upload, there):
    out = tmp_path / "out"
    out.mkdir()
    spec = SimpleNamespace(folder=tmp_path)
    training_results.add_event_files(spec, SimpleNamespace(upload=upload), out)
    assert list(out.iterdir()) == []
    (tmp_path / "tensorboard").mkdir()
    (tmp_path / "tensorboard" / "events.1").write_text("x")
    training_results.add_event_files(spec, SimpleNamespace(upload=upload), out)
    assert (out / "tensorboard" / "events.1").exists() is there
