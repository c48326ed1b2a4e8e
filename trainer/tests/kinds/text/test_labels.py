"""Texts with several labels: how they are found, measured and predicted."""

import json
import random
import shutil

import numpy
import pytest
from result_checks import blocks_of, check_success, error_of, predictions, result_of
from small_datasets import table
from test_data_load import load  # noqa: F401 - a fixture
from test_snippets import use  # noqa: F401 - a fixture

from trainer.core import registry
from trainer.errors import UserError
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.rows import label_sets as forms
from trainer.measure import label_sets as measure
from trainer.measure.label_sets import LabelSets
from trainer.run import run

TOPICS = {
    "sports": "goal match team league coach".split(), "politics": "vote minister senate law election".split(),
    "science": "cell energy particle telescope genome".split(), "health": "doctor virus hospital patient drug".split(),
}  # fmt: skip
FILLERS = "the a of and with today people new long under about after report says".split()


def topics(rows: int = 240, seed: int = 3, empty: bool = False) -> list[tuple[str, list[str]]]:
    """Texts with words of their topics, and the topics: three in four rows have one or two, some three or none."""
    chance = random.Random(seed)
    found = []
    for _ in range(rows):
        labels = chance.sample(list(TOPICS), chance.choices([0, 1, 2, 3], [2 * empty, 4, 4, 1])[0])
        words = [chance.choice(TOPICS[label]) for label in labels for _ in range(2)] + chance.choices(FILLERS, k=8)
        found.append((" ".join(chance.sample(words, len(words))), labels))
    return found


def separated(by: str, name: str = "labels", rows: int = 240) -> dict[str, str]:
    return {"news.csv": table(["text", name], [[text, by.join(labels)] for text, labels in topics(rows)])}


def in_columns(rows: int = 240) -> dict[str, str]:
    cells = [[i, text, *(int(t in labels) for t in TOPICS)] for i, (text, labels) in enumerate(topics(rows, empty=True))]
    return {"news.csv": table(["id", "comment_text", *TOPICS], cells)}


def as_lists(rows: int = 240) -> dict[str, str]:
    return {"news.jsonl": "".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in topics(rows, empty=True))}


@pytest.mark.parametrize(
    ("files", "column", "why"),
    [
        pytest.param(separated("; "), "labels", "several labels in", id="semicolons"),
        pytest.param(separated("|", "tags"), "tags", "separated by bars", id="bars"),
        pytest.param(separated(",", "genres"), "genres", "separated by commas", id="commas"),
        pytest.param(as_lists(), "labels", "a list of labels in each row", id="lists"),
        pytest.param(in_columns(), "sports, politics, science, health", "say with 0 and 1", id="columns of 0 and 1"),
    ],
)
def test_several_labels_are_found_with_a_reason(load, files, column, why):  # noqa: F811
    found = load(files)
    assert (found.task, found.kind.name, found.label_column) == ("multi-label-classification", "text", column)
    assert found.labels == ("health", "politics", "science", "sports")
    assert why in next(d["why"] for d in load.events.decisions if d["what"] == "label_column")
    counts = found.counts()
    assert sum(counts.values()) > len(found.splits["train"])
    assert all(len(rows) >= 20 for rows in found.splits.values())
    for name in ("validation", "test"):  # spread evenly
        share = {label: sum(label in e.target for e in found.splits[name]) / len(found.splits[name]) for label in counts}
        assert all(abs(share[label] - counts[label] / len(found.splits["train"])) < 0.25 for label in counts)


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(["Trinidad, Tobago", "Sports, Leisure", "Food"], id="names with a comma"),
        pytest.param(["a", "b"], id="one label each"),
        pytest.param(["one; of many words that make a sentence", "other; of many words that make a sentence"], id="sentences"),
    ],
)
def test_single_labels_stay_single(load, labels):  # noqa: F811
    rows = [[f"{text} {i}", labels[i % len(labels)]] for i, (text, _) in enumerate(topics(90))]
    assert load({"news.csv": table(["text", "label"], rows)}).task == "text-classification"


def _with_score(columns: list[str]) -> dict[str, str]:
    rows = [{"text": text, "tags": ";".join(labels), "score": f"{i * 7 % 101 / 10}"} for i, (text, labels) in enumerate(topics())]
    return {"news.csv": table(columns, [[r[c] for c in columns] for r in rows])}


def test_tags_before_a_number_are_asked_about(load):  # noqa: F811
    files = _with_score(["text", "tags", "score"])
    with pytest.raises(UserError, match="tags and score") as asked:
        load(files)
    assert asked.value.code == "ambiguous_label"
    assert (load(files, label_column="score").task, load(files, label_column="tags").task) == ("text-regression", "multi-label-classification")


def test_tags_behind_a_number_are_the_label_and_the_number_is_named(load):  # noqa: F811
    assert load(_with_score(["text", "score", "tags"])).label_column == "tags"
    assert "If the label is score, set label_column." in next(d["why"] for d in load.events.decisions if d["what"] == "label_column")


def test_columns_can_be_named(load):  # noqa: F811
    found = load(in_columns(), label_column="sports, health")
    assert found.labels == ("health", "sports")
    assert found.label_column == "sports, health"


def test_a_task_without_such_labels_is_refused(load):  # noqa: F811
    rows = [[text, "ab"[i % 2]] for i, (text, _) in enumerate(topics(60))]
    with pytest.raises(UserError, match="several labels") as refused:
        load({"news.csv": table(["text", "label"], rows)}, task="multi-label-classification")
    assert refused.value.code == "no_label_sets"


@pytest.mark.parametrize(
    ("cell", "separator", "found"),
    [
        ("a; b;a ;", ";", ("a", "b")), ('["x", "y"]', ";", ("x", "y")), ("['x', 'y']", ";", ("x", "y")), ("[]", ";", ()), ("(none)", ",", ()),
        ("[1, [2]]", "|", ("[1, [2]]",)), ('["a;b"]', ";", ("a b",)), ("[" * 3000 + "]" * 3000, ";", ("[" * 3000 + "]" * 3000,)),
    ],
)  # fmt: skip
def test_the_labels_of_a_cell(cell, separator, found):
    assert forms.parts(cell, separator) == found
    assert forms.parts(forms.joined(found, separator), separator) == tuple(sorted(found))


def test_the_scores_are_those_of_scikit_learn():
    from sklearn.metrics import f1_score, precision_score, recall_score

    chance = numpy.random.default_rng(2)
    truth, predicted = chance.random((60, 5)) < 0.3, chance.random((60, 5)) < 0.4
    a = LabelSets(truth, predicted, chance.random((60, 5)))
    found = measure.report(a, 1)
    wanted = {
        "f1_micro": f1_score(truth, predicted, average="micro"), "f1_macro": f1_score(truth, predicted, average="macro"),
        "precision_micro": precision_score(truth, predicted, average="micro"), "recall_micro": recall_score(truth, predicted, average="micro"),
        "exact_rows": (truth == predicted).all(axis=1).mean(),
    }  # fmt: skip
    assert {n: found[n]["value"] for n in wanted} == pytest.approx(wanted)
    assert all(found[n]["low"] <= found[n]["value"] <= found[n]["high"] for n in wanted)
    rows = measure.table(a, None, tuple("abcde"), {"a": 0.3}, 1)["labels"]
    assert [r["f1"]["value"] for r in rows] == pytest.approx(list(f1_score(truth, predicted, average=None)))
    assert (rows[0]["threshold"], rows[1]["threshold"]) == (0.3, 0.5)


def test_a_target_is_restored():
    target = Labels(("a", "b"), "|")
    assert registry.restored(target.described()) == target
    assert target.encode(["a | b", "(none)", "", "b|c"]).tolist() == [[1, 1], [0, 0], [-1, -1], [0, 1]]
    assert target.text([1, 1]) == "a | b"


def test_a_model_of_several_labels_is_trained_measured_and_used(make_run, schemas, use):  # noqa: F811
    spec = make_run(separated("; "), run="ft-earlier")
    assert run(str(spec), "ray") == 0  # no Ray is started
    result = check_success(spec.parent, schemas)
    test = result["metrics"]["test"]
    assert (result["task"], result["metric"], result["model"]["base"]) == ("multi-label-classification", "f1_micro", "words")
    assert test["f1_micro"]["value"] > 0.9
    assert {b["name"] for b in result["metrics"]["baselines"]} == {"constant", "linear"}
    shown = blocks_of(result, "Labels")[0]["rows"]
    assert [row[0]["text"] for row in shown] == ["all", *result["model"]["labels"]] == ["all", *sorted(TOPICS)]
    assert all(0 < row[5]["value"] < 1 for row in shown[1:])
    rows = predictions(spec.parent)
    assert rows[0].keys() >= {"content", "label", "predicted", "possible", "probability of sports"}
    assert all(r["predicted"] == forms.NONE or set(r["predicted"].split("; ")) <= set(r["possible"].split("; ")) for r in rows)
    facts = {f["name"]: f["value"] for f in blocks_of(result, "How sure answers are")[0]["facts"]}
    assert facts["Promised"] == "90 % of labels that rows have" and " labels that rows have (95 % interval " in facts["On the test rows"]
    texts = {f"{i + 2}": text for i, (text, _) in enumerate(topics())}
    names, printed = use("words", spec.parent / "out")
    assert len(printed) == 2
    assert ["; ".join(sorted(found)) or forms.NONE for found in names["predict"]([texts[r["row"]] for r in rows])] == [r["predicted"] for r in rows]

    registry = spec.parent.parent.parent / "registry" / "topics"
    shutil.copytree(spec.parent / "out" / "model", registry)
    model = {"model": {"path": "../../registry/topics", "run": "ft-earlier", "name": "topics", "version": 1}}
    again = make_run(separated("; "), run="pr-1", kind="predict", more=model)
    assert run(str(again), "ray") == 0
    predicted = result_of(again.parent)["prediction"]
    assert predicted["scores"]["f1_micro"]["value"] > 0.9
    assert set(predicted["counts"]) == set(TOPICS)
    by_row = {r["row"]: r for r in predictions(again.parent)}
    assert all(by_row[r["row"]]["predicted"] == r["predicted"] and by_row[r["row"]]["possible"] == r["possible"] for r in rows)


def test_the_same_rows_give_the_same_bits(make_run):
    def weights(name: str) -> bytes:
        spec = make_run(as_lists(120), run=name)
        assert run(str(spec), "local") == 0
        return (spec.parent / "out" / "model" / "weights.safetensors").read_bytes()

    assert weights("ft-one") == weights("ft-two")


def test_other_models_are_refused(make_run):
    spec = make_run(separated("; "), model="bert-tiny")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["what"] == "The model bert-tiny answers one label for each row, and this data has several."


def test_a_wrong_metric_is_refused(make_run):
    spec = make_run(separated("; "), metric="accuracy")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "wrong_metric"


def test_there_is_nothing_to_search(make_run):
    spec = make_run(separated("; "), more_options="search.trials: 3")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "search_model"
