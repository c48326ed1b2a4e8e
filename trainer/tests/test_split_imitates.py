"""What the report says that the split imitates, and what a small model's score would be under another split."""

import csv
import io
import random
from types import SimpleNamespace

import loading
import numpy
import pytest
from conftest import events_of
from result_checks import check_success, result_of
from test_data_load import spec_of, table

from trainer.core import registry
from trainer.core.example import Example
from trainer.core.one_split import OneSplit
from trainer.data import ordered, together
from trainer.data.cut import TITLE, Cut
from trainer.measure import other_split
from trainer.run import run
from trainer.run_folder.events import Events
from trainer.training import imitated, prepare

ROWS, EACH = 300, 6


def planted(effect: bool = True, seed: int = 0) -> list[list[str]]:
    """Rows of 50 plants: six numbers that are nearly the same within a plant, and a label that a plant mostly has. Without ``effect`` all is chance.
    Rows of a plant follow each other."""
    chance = random.Random(seed)
    found = []
    for plant in range(ROWS // EACH):
        usual, ill = [chance.gauss(0, 1) for _ in range(6)], chance.random() < 0.5
        for _ in range(EACH):
            cells = [u + chance.gauss(0, 0.1) if effect else chance.gauss(0, 1) for u in usual]
            is_ill = ill == (chance.random() < 0.8) if effect else chance.random() < 0.5
            found.append([f"P{plant:03d}", *(f"{c:.3f}" for c in cells), "ill" if is_ill else "well"])
    return found


def said(result: dict) -> tuple[str, dict[str, float]]:
    """The sentences of the section, and the scores of the small model by what was held out."""
    section = next(s for s in result["sections"] if s["title"] == TITLE)
    texts = " ".join(t for b in section["blocks"] if b["type"] == "text" for t in b["text"])
    rows = [r for b in section["blocks"] if b["type"] == "table" for r in b["rows"]]
    return texts, {r[0]["text"]: r[1]["value"] for r in rows}


def warned(result: dict) -> list[str]:
    return [w["text"] for w in result["warnings"] if w["code"] == imitated.CODE]


HEAD = ["specimen", "a", "b", "c", "d", "e", "f", "state"]
LINEAR = {"model": "linear"}


def test_rows_of_known_plants_are_told_from_those_of_new_ones(make_run, schemas):
    spec = make_run({"t.csv": table(HEAD, planted())}, **LINEAR)
    assert run(str(spec), "ray") == 0
    result = check_success(spec.parent, schemas)
    texts, scores = said(result)
    assert "new rows of a specimen that the model knows" in texts and "share their specimen" in texts
    assert scores["rows held out at random"] > scores["rows of a new specimen"] + 0.1
    (text,) = warned(result)
    assert "set group_column to specimen" in text

    spec = make_run({"t.csv": table(HEAD, planted())}, run="ft-whole", group_column="specimen", **LINEAR)
    assert run(str(spec), "ray") == 0
    result = result_of(spec.parent)
    texts, scores = said(result)
    assert "new values of specimen" in texts and not warned(result)
    assert max(scores, key=scores.get) == "rows held out at random"


def test_groups_without_effect_cause_no_warning(make_run):
    spec = make_run({"t.csv": table(HEAD, planted(effect=False))}, **LINEAR)
    assert run(str(spec), "ray") == 0
    result = result_of(spec.parent)
    assert len(said(result)[1]) == 2 and not warned(result)


def of_donors() -> str:
    """The words of a case tell its label, and only those."""
    chance = random.Random(1)
    rows = []
    for case in range(40):
        words = [f"word{chance.randrange(10**6)}" for _ in range(12)]
        rows += [
            [f"donor {case}", " ".join(chance.sample(words, 8)), "yes" if (case % 2 == 0) == (chance.random() < 0.9) else "no"] for _ in range(6)
        ]
    return table(["donor", "text", "label"], rows)


def test_rows_of_one_donor_stay_together_unasked_where_their_labels_are_alike(tmp_path):
    spec = spec_of(tmp_path, {"t.csv": of_donors()})
    data = loading.load(spec, Events(tmp_path / "events.jsonl", 1), text_column="text")
    donors = {name: {e.group for e in rows} for name, rows in data.splits.items()}
    assert data.kept_by == "donor" and "" not in donors["test"]
    assert not (donors["train"] & donors["test"] or donors["train"] & donors["validation"] or data.together)
    text = next(e["why"] for e in events_of(tmp_path) if e.get("what") == "group_column")
    assert "data.split to random" in text
    earlier = {"task": data.task}
    target = SimpleNamespace(labels=data.labels)
    assert "same donor" in prepare._incomparable(earlier, data, target, target)
    assert "same donor" not in prepare._incomparable({**earlier, "columns": ["text"], "types": {}, "kept_by": "donor"}, data, target, target)

    asked = loading.load(spec, Events(tmp_path / "events.jsonl", 1), text_column="text", split="random")
    assert asked.kept_by == "" and {e.group for e in asked.splits["test"]} == {""}


def test_a_column_that_one_of_the_tables_lacks_keeps_no_rows_together(tmp_path):
    head, *rows = csv.reader(io.StringIO(of_donors()))
    tables = {"a.csv": table(head, rows[:160]), "b.csv": table(head[1:], [row[1:] for row in rows[160:]])}
    data = loading.load(spec_of(tmp_path, tables), Events(tmp_path / "events.jsonl", 1), text_column="text")
    assert data.kept_by == "" and sum(map(len, data.splits.values())) == len(rows)


@pytest.mark.parametrize(
    ("settings", "change"),
    [
        pytest.param({}, lambda i, row: [f"D{i % 40}", *row[1:]], id="labels that have nothing to do with the donor"),
        pytest.param({}, lambda i, row: [row[0] if i % 5 else "", *row[1:]], id="many rows without a donor"),
        pytest.param({}, lambda i, row: ["donor 0" if i < 90 else row[0], *row[1:]], id="a donor with a large part of the rows"),
        pytest.param({"split_column": "part"}, lambda i, row: row, id="given splits"),
    ],
)
def test_rows_are_not_kept_together_where_it_is_not_clear(tmp_path, settings, change):
    head, *rows = csv.reader(io.StringIO(of_donors()))
    parts = ["train", "train", "validation", "test"]
    text = table([*head, "part"], [[*change(i, row), parts[i % 4]] for i, row in enumerate(rows)])
    data = loading.load(
        spec_of(tmp_path, {"t.csv": text}), Events(tmp_path / "events.jsonl", 1), text_column="text", label_column="label", **settings
    )
    assert data.kept_by == ""


def test_rows_that_cannot_be_held_out_by_donor_are_split_at_random_with_a_warning(tmp_path):
    rows = [[f"D{i // 10}", f"{i * 7 % 20}.5", "ab"[i // 10 % 2], ["no", "yes"][i // 10 % 2]] for i in range(300)]
    data = loading.load(spec_of(tmp_path, {"t.csv": table(["donor", "height", "mark", "label"], rows)}), Events(tmp_path / "events.jsonl", 1))
    assert data.kept_by == "" and len(data.splits["test"])
    assert any(c["code"] == ordered.AGAIN and "too few can be held out" in c["text"] for c in data.checks)


def test_texts_of_one_author_are_told_from_those_of_new_ones(make_run):
    spec = make_run({"t.csv": of_donors()}, model="words", text_column="text", split="random")
    assert run(str(spec), "ray") == 0
    result = result_of(spec.parent)
    scores = said(result)[1]
    assert scores["texts held out at random"] > scores["texts of a new donor"] + 0.1
    assert any("set group_column to donor" in w["text"] for w in result["warnings"]), "said once, by the labels alone"
    assert not warned(result)


def test_a_run_without_ways_says_one_sentence(make_run):
    rows = [row[1:] for row in planted(effect=False)]
    spec = make_run({"t.csv": table(HEAD[1:], rows)}, **LINEAR)
    assert run(str(spec), "ray") == 0
    assert said(result_of(spec.parent)) == (
        "The test rows are a random part of the dataset, so the scores stand for new rows from where these are from.",
        {},
    )
    assert not [e for e in events_of(spec.parent) if e.get("code") == imitated.CODE]


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("patient_id", True), ("PatientID", True), ("Subject", True), ("site", True), ("site name", True), ("plot.no", True), ("plantID", True),
        ("plant height", False), ("field_size", False), ("species", False), ("patients", False), ("alcohol", False), ("body_mass_g", False),
        ("island", False), ("x", False), ("", False), ("trial", False),
    ],
)  # fmt: skip
def test_names_of_columns_tell_what_has_several_rows(name, is_one):
    assert together.is_named(name) == is_one


def files(*names_and_labels) -> dict[str, list[Example]]:
    return {"train": [Example(name, 0, "", label) for name, label in names_and_labels]}


@pytest.mark.parametrize(
    ("given", "names"),
    [
        pytest.param([(f"{'cat' if s % 2 else 'dog'}/site{s}/{i}.jpg", "cd"[s % 2]) for s in range(12) for i in range(4)], ["folder"],
                     id="a folder for each site below the label"),
        pytest.param([(f"{'cat' if s % 2 else 'dog'}/plant{s}_{i}.jpg", "cd"[s % 2]) for s in range(12) for i in range(4)], ["series"],
                     id="several pictures of a plant"),
        pytest.param([(f"{'cat' if i % 2 else 'dog'}/IMG_{i:04d}.jpg", "cd"[i % 2]) for i in range(60)], [], id="numbers of a camera"),
        pytest.param([(f"class{s}/{i}.jpg", str(s)) for s in range(12) for i in range(4)], [], id="folders that are the labels"),
        pytest.param([(f"class{s}_{i}.jpg", str(s)) for s in range(12) for i in range(4)], [], id="names that are the labels"),
    ],
)  # fmt: skip
def test_names_of_files_tell_groups(given, names):
    found = together.of_files(files(*given))
    assert [t.name for t in found] == names
    for way in found:
        assert len(set(way.of.values())) == 12


def test_files_of_a_series_stay_together_where_the_user_asks(tmp_path):
    texts = {f"{'pro' if s % 2 else 'con'}/letter{s}-{i}.txt": f"words of {s} and {i} {s * i * 7 % 11}" for s in range(24) for i in range(3)}
    data = loading.load(spec_of(tmp_path, texts), Events(tmp_path / "events.jsonl", 1), split="group", test_fraction=0.2)
    series = {name: {e.file.rpartition("-")[0] for e in rows} for name, rows in data.splits.items()}
    assert series["test"] and not series["train"] & series["test"] and not data.together


def placed(names: tuple[str, str], seed: int = 3) -> str:
    """Rows at chance places, with a number that has nothing to do with them."""
    chance = random.Random(seed)
    return table(
        [*names, "size", "target"], [[chance.randrange(5000), chance.randrange(9000), chance.random(), chance.gauss(0, 1)] for _ in range(200)]
    )


@pytest.mark.parametrize(
    ("names", "ways"),
    [
        pytest.param(("easting", "northing"), [ordered.PLACE], id="coordinates in metres"),
        pytest.param(("x", "y_place"), [], id="other numbers"),
        pytest.param(("x", "y"), [], id="x and y may be anything"),
    ],
)
def test_coordinates_tell_places(tmp_path, names, ways):
    body = placed(names)
    data = loading.load(spec_of(tmp_path, {"t.csv": body}), Events(tmp_path / "events.jsonl", 1))
    assert [t.by for t in data.together] == ways


def test_x_and_y_are_places_where_the_user_says_so(tmp_path):
    body = placed(("x", "y"))
    data = loading.load(spec_of(tmp_path, {"t.csv": body}), Events(tmp_path / "events.jsonl", 1), split="place")
    blocks = {name: {e.group for e in rows} for name, rows in data.splits.items()}
    assert blocks["test"] and not blocks["test"] & blocks["train"]


def test_files_of_rows_are_a_way_where_there_are_several(tmp_path):
    chance = random.Random(5)
    rows = {
        f"logger{i}.csv": table(["depth", "heat", "y"], [[chance.random(), chance.random(), chance.gauss(0, 1)] for _ in range(20)]) for i in range(8)
    }
    data = loading.load(spec_of(tmp_path, rows), Events(tmp_path / "events.jsonl", 1))
    assert [t.name for t in data.together] == ["file"] and len(set(data.together[0].of.values())) == 8


def test_later_rows_are_worse_where_the_world_changes():
    chance = numpy.random.default_rng(0)
    whens = numpy.arange(400.0)
    features = numpy.stack([whens + chance.normal(0, 1, 400), chance.normal(0, 1, 400)], axis=1)
    drifting = other_split.by_time(features, whens**2, whens, 1)
    assert drifting is not None and drifting.falls and set(drifting.rows) == set(range(300, 400))
    steady = other_split.by_time(features, features[:, 1], whens, 1)
    assert steady is not None and not steady.falls


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_no_fall(seed):
    chance = numpy.random.default_rng(seed)
    features, groups = chance.normal(0, 1, (300, 4)), chance.integers(0, 30, 300)
    wanted = features[:, 0] + chance.normal(0, 0.5, 300)
    found = other_split.by_groups(features, wanted, groups, seed)
    assert found is not None and not found.falls
    again = other_split.by_groups(features, wanted, groups, seed)
    assert again is not None and (found.other == again.other).all()


def test_too_few_rows_are_not_compared():
    assert other_split.by_groups(numpy.zeros((20, 2)), numpy.zeros(20), numpy.arange(20) % 5, 0) is None
    assert other_split.by_time(numpy.zeros((50, 2)), numpy.zeros(50), numpy.zeros(50), 0) is None


@pytest.mark.parametrize("kind", list(registry.kinds().values()), ids=list(registry.kinds()))
def test_each_kind_measures_the_other_split_or_says_why_not(kind):
    """Graphs have a section of their own."""
    measured = kind.name in ("text", "image", "table", "graph")
    assert isinstance(kind, OneSplit) != measured
    if not measured:
        assert imitated._not_measured(kind, True) == [kind.why_one_split] and "is not measured:" in kind.why_one_split
    else:
        assert imitated._not_measured(kind, True) == []
        assert imitated._not_measured(kind, False) == [f"What the score would be under another split is not measured above 200,000 {kind.things}."]


def test_every_way_to_split_has_its_sentence():
    for by in (ordered.RANDOM, ordered.TIME, ordered.GROUP, "given", "end"):
        assert Cut(by, "sites").imitates("rows").endswith(".")
