"""Near copies of examples: what is one, and that none are in training and in another split."""

from collections import Counter
from types import SimpleNamespace

import numpy
import pytest

from trainer.core.example import Example
from trainer.data import splits
from trainer.data.checks import Checks
from trainer.data.keys import Keys
from trainer.data.near import pictures as near_pictures, texts as near_texts
from trainer.data.ordered import ORIGINALS, TIME, Rule
from trainer.run_folder.events import Events
from trainer.tests.zoo.copies import _copies, _ground
from trainer.tests.zoo.pictures import png

BODY = "the level of the river in spring was higher than in other years and the wells near it were full to the brim"


@pytest.fixture
def checks(tmp_path):
    return Checks(Events(tmp_path / "events.jsonl", 1))


def texts(count, label="yes"):
    """One text for each number, which share a few words."""
    chance = numpy.random.default_rng(3)
    return [Example("t.csv", i + 2, f"{i} " + " ".join(chance.permutation(BODY.split())), label) for i in range(count)]


def version(row, name, label="yes"):
    return Example("t.csv", row, f"Dear {name}, {BODY}.", label)


def groups(given):
    return Counter(e.group for e in given["train"])


def pictures(folder, originals):
    """Five copies of each original, as files of which each is an example."""
    found = []
    for i in range(originals):
        for k, pixels in enumerate(_copies(_ground(i))):
            file = folder / f"{i}_{k}.png"
            file.write_bytes(png(pixels))
            found.append(Example(file.name, 0, file, "elm" if i % 2 else "oak"))
    return found


def test_turned_mirrored_lit_and_smaller_pictures_have_one_group(tmp_path, checks):
    given, rule = near_pictures.together({"train": pictures(tmp_path, 12)}, True, "auto", None, checks)
    assert sorted(groups(given).values()) == [5] * 12
    assert all(len({e.file.split("_")[0] for e in given["train"] if e.group == g}) == 1 for g in groups(given))
    assert rule.new == ORIGINALS


def test_no_split_has_a_copy_of_another_one(tmp_path, checks):
    given, rule = near_pictures.together({"train": pictures(tmp_path, 12)}, True, "auto", None, checks)
    settings = SimpleNamespace(test_fraction=0.2, validation_fraction=0.2, duplicates="warn", seed=1, group_column="")
    found = splits.complete(given, Keys(lambda e: e.file), False, settings, checks, rule)
    origins = {name: {e.file.split("_")[0] for e in rows} for name, rows in found.items()}
    assert all(origins.values())
    assert not (origins["train"] & origins["test"] or origins["train"] & origins["validation"] or origins["test"] & origins["validation"])


@pytest.mark.parametrize(("label", "grouped"), [("yes", 2), ("no", 0)])
def test_only_texts_with_the_same_label_are_copies(label, grouped, checks):
    rows = [*texts(30), version(50, "Ann"), version(51, "Bob", label)]
    given, _ = near_texts.together({"train": rows}, True, "auto", None, checks)
    assert sum(bool(e.group) for e in given["train"]) == grouped


def test_many_texts_in_one_form_are_no_copies(checks):
    rows = [*texts(10), *(version(50 + i, f"name{i}") for i in range(20))]
    given, rule = near_texts.together({"train": rows}, True, "auto", None, checks)
    assert groups(given) == {"": 30}
    assert rule == Rule()


def test_copies_join_groups_that_are_known(checks):
    first, second, third = (Example("t.csv", row, f"Dear {row}, {BODY}.", "yes", group=g) for row, g in ((50, "a"), (51, "b"), (52, "")))
    other = Example("t.csv", 60, "a text of its own, about nothing that any of the others is about, but of patient b", "yes", group="b")
    given, _ = near_texts.together({"train": [*texts(30), first, second, third, other]}, True, "auto", None, checks)
    assert groups(given) == {"": 30, "a": 4}


@pytest.mark.parametrize(
    ("split", "rule", "level"),
    [("random", None, "warning"), ("auto", Rule(by=TIME), None)],
)
def test_rows_that_are_split_in_another_way_have_no_groups(split, rule, level, checks):
    rows = [*texts(30), version(50, "Ann"), version(51, "Bob")]
    given, _ = near_texts.together({"train": rows}, True, split, rule, checks)
    assert groups(given) == {"": 32}
    assert [e["level"] for e in checks.entries] == ([level] if level else [])


@pytest.mark.parametrize(("others", "level"), [(5, "warning"), (60, "ok")])
def test_copies_in_given_splits_are_said(others, level, checks):
    given = {"train": [*texts(30), version(50, "Ann")], "validation": texts(9), "test": [*texts(others), version(90, "Bob")]}
    found, _ = near_texts.together(given, True, "auto", None, checks)
    assert not any(groups(found).keys() - {""}), "one training text has no copy in training"
    (entry,) = [e for e in checks.entries if e["code"] == "near_copies" and "test" in e["text"]]
    assert entry["level"] == level
    assert f"1 of {others + 1} test texts is nearly the same as training texts, for example row 90 of t.csv and row 50 of t.csv" in entry["text"]
