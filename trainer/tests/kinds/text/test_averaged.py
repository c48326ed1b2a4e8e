"""A network averaged with the estimator words: how both are weighed, and that the delivered model answers everywhere as in the training."""

import json
import random
import shutil
from pathlib import Path

import numpy
import pytest
from result_checks import check_success, predictions, setting
from small_datasets import WORDS, table
from test_answer import outputs, tensor
from test_base_model import install
from test_snippets import use  # noqa: F401

from trainer.answer.model import Model
from trainer.kinds.text import averaged
from trainer.measure.predictions import of_scores
from trainer.run import run
from trainer.training import comparing


def answered(noise: int, rows: int = 400, extra=(0.0, 0.0), truth_of: int = 1):
    """The answers of a model that sees half of what can be known; those of another ``noise`` see the other half."""
    truth = (numpy.random.default_rng(truth_of).random(rows) < 0.4).astype(int)
    clue = 2 * truth - 1 + 1.5 * numpy.random.default_rng(noise).normal(size=rows)
    return of_scores(truth, numpy.stack([-clue / 2, clue / 2], axis=1) + numpy.asarray(extra))


def loss(found) -> float:
    return float(-numpy.log(found.likelihood).mean())


def test_two_models_that_make_different_mistakes_are_better_together():
    network, words = answered(2), answered(3)
    average = averaged.fit(network, words, None)
    assert 0.3 <= average.share <= 0.7
    together = average.answers(network, words)
    assert loss(together) < 0.9 * min(loss(network), loss(words))
    assert (together.predicted == together.truth).mean() > max((m.predicted == m.truth).mean() for m in (network, words))


def test_class_weights_that_only_the_network_learnt_with_are_taken_back():
    weights = (0.5, 4.0)
    plain, weighed = answered(2), answered(2, extra=numpy.log(weights))
    words = answered(3)
    expected, found = averaged.fit(plain, words, None), averaged.fit(weighed, words, weights)
    assert (found.share, found.temperature) == (expected.share, expected.temperature)
    assert numpy.allclose(found.answers(weighed, words).probabilities, expected.answers(plain, words).probabilities, atol=1e-5)


@pytest.mark.parametrize(
    ("network", "words", "why"),
    [
        (answered(2, rows=99), answered(3, rows=99), "few validation rows cannot weigh two models"),
        (answered(2), answered(3, truth_of=5), "they answered other rows"),
    ],
)
def test_they_are_not_averaged_where_nothing_can_tell_how(network, words, why):
    assert averaged.fit(network, words, None) is None, why


@pytest.fixture
def made(make_run, schemas, monkeypatch) -> Path:
    """The folder of a run that delivers an installed encoder averaged with words."""
    monkeypatch.setattr(comparing, "_loss", lambda candidate, *_: float(candidate.beside is None))
    monkeypatch.setattr(averaged, "_ROWS", 10)
    chance = random.Random(5)
    rows = [[" ".join([*chance.choices(WORDS, k=5), "good" if i % 2 else "bad", str(i)]), "yes" if i % 2 else "no"] for i in range(160)]
    spec = make_run({"all.csv": table(["text", "label"], rows)}, epochs=1)
    install(spec.parent.parent.parent / "models", "org/base")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["model"]["averaged_with"] == "words"
    assert setting(result, "model") == ("auto", "chosen")  # so that a repeated run makes it again
    assert [c["chosen"] for c in result["candidates"] if c["name"] == "org/base (with words)"] == [True]
    return spec.parent


def test_the_delivered_model_answers_everywhere_as_in_the_training(made, make_run, use, schemas):  # noqa: F811
    held_out = predictions(made)
    with open(made / "inputs" / "all.csv") as f:
        lines = f.read().splitlines()
    texts = [lines[int(r["row"]) - 1].split(",")[0] for r in held_out]
    said = [r["predicted"] for r in held_out]

    found = outputs(Model(made / "out" / "model"), tensor("text", texts))
    assert found["label"] == said
    sure = [max(found["probability"][2 * i : 2 * i + 2]) for i in range(len(said))]
    assert sure == pytest.approx([float(r["confidence"]) for r in held_out], abs=2e-4)

    names, printed = use("text_words", made / "out")
    assert len(printed) == 2
    assert names["predict"](texts) == said

    registry = made.parent.parent / "registry"
    shutil.copytree(made / "out" / "model", registry / "both")
    version = {"path": "../../registry/both", "run": "ft-test", "name": "both", "version": 1}
    later = make_run({"all.csv": made / "inputs" / "all.csv"}, run="pr-later", kind="predict", more={"model": version})
    assert run(str(later), "local") == 0
    answers = {row["row"]: row["predicted"] for row in predictions(later.parent)}
    assert [answers[r["row"]] for r in held_out] == said

    again = make_run({"all.csv": made / "inputs" / "all.csv"}, run="ft-again", model="words", more={"champion": version})
    assert run(str(again), "local") == 0
    compared = check_success(again.parent, schemas)["champion"]
    right = sum(r["predicted"] == r["label"] for r in held_out) / len(held_out)
    assert compared["comparable"] and compared["test"]["accuracy"]["value"] == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        {"share": 1.5},
        {"temperature": 0},
        {"correction": [0.0]},
        {"correction": [0.0, float("inf")]},
    ],
)
def test_damaged_files_of_words_are_refused(tmp_path, monkeypatch, change):
    from types import SimpleNamespace

    from trainer.kinds.text import words

    monkeypatch.setattr(words, "restored", lambda *_: SimpleNamespace(classes=2))
    whole = {"share": 0.5, "temperature": 1.0, "correction": [0.0, 0.0]}
    for average in (whole, whole | change):
        (tmp_path / averaged.CONFIG).write_text(json.dumps({averaged.AVERAGE: average}))
        if average is whole:
            assert averaged.load(tmp_path).average.share == 0.5
            continue
        with pytest.raises(ValueError, match="do not fit together"):
            averaged.load(tmp_path)


def test_a_network_alone_has_no_words_beside_it(tmp_path):
    assert averaged.load(tmp_path) is None
