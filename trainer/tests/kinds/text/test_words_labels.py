"""The estimator of words for texts with several labels, without a run: what it learns, chooses, saves and refuses."""

import json
from types import SimpleNamespace

import numpy
import pytest
from safetensors import numpy as safetensors

from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.text import words_labels
from trainer.kinds.text.words import BAG, CHARACTERS, RATIO
from trainer.run_folder import files

LABELS = Labels(("dark", "river", "warm"))
PARTS = {"dark": "a dark lamp at night", "river": "the river under the bridge", "warm": "warm bread in the morning"}
SETTINGS = SimpleNamespace(lower_case="auto", seed=7, validation_file="")


def examples(targets: list[str]) -> list[Example]:
    """Texts that say their labels."""
    return [
        Example("all.csv", i + 2, f"note {i}: " + " and ".join(PARTS[t] for t in target.split(";") if t), target) for i, target in enumerate(targets)
    ]


SEVERAL = ["dark", "river", "warm", "dark;river", "river;warm", "dark;warm"]


def dataset(train: list[Example], validation: list[Example]) -> Dataset:
    splits = {"train": train, "validation": validation}
    return Dataset("text-classification", registry.of("text"), splits, ["all.csv"], ("text",), "labels", LABELS.labels, separator=";")


@pytest.fixture(scope="module")
def fitted():
    return words_labels.fit(dataset(examples(SEVERAL * 6), examples(SEVERAL)), LABELS, SETTINGS)


def test_texts_get_the_labels_that_their_words_tell(fitted):
    asked = examples(["dark", "river;warm", "dark;river;warm", "warm"])
    outputs = fitted.outputs(asked)
    assert (outputs.shape, outputs.dtype) == ((4, LABELS.outputs), numpy.float32)
    assert [LABELS.text(row).replace("; ", ";") for row in outputs[:, 3:]] == [e.target for e in asked]
    assert ((outputs[:, :3] > 0) & (outputs[:, :3] <= 1)).all()
    assert ((outputs[:, :3] >= fitted.thresholds) == outputs[:, 3:].astype(bool)).all()


def test_no_texts_have_no_outputs(fitted):
    assert fitted.outputs([]).shape == (0, LABELS.outputs)


@pytest.mark.parametrize("content", ["", " ", "\x00", "unknown", "🙂" * 30, "x" * 30_000], ids=["empty", "blank", "nul", "unknown", "emoji", "long"])
def test_any_text_gets_probabilities(fitted, content):
    outputs = fitted.outputs([Example("all.csv", 2, content, "")])
    assert numpy.isfinite(outputs).all() and ((outputs >= 0) & (outputs <= 1)).all()


def test_the_simple_model_is_the_bag_of_words_alone(fitted):
    asked = examples(SEVERAL)
    assert list(fitted.weights) == [CHARACTERS, RATIO] and list(fitted.simple.weights) == [BAG]
    assert fitted.simple_outputs(asked).tolist() == fitted.simple.outputs(asked).tolist()
    assert 0 < fitted.simple.parameters < fitted.parameters
    assert fitted.parameters == sum(w.size for w in fitted.weights.values()) + 3 * len(fitted.weights)


def test_the_same_data_and_seed_give_the_same_bits(fitted):
    again = words_labels.fit(dataset(examples(SEVERAL * 6), examples(SEVERAL)), LABELS, SETTINGS)
    for name, weights in fitted.weights.items():
        assert weights.tobytes() == again.weights[name].tobytes()
    assert fitted.thresholds.tolist() == again.thresholds.tolist() and fitted.temperature == again.temperature


def test_a_saved_model_answers_the_same(fitted, tmp_path):
    fitted.save(tmp_path)
    loaded = words_labels.load(tmp_path, files.read_json(tmp_path / "config.json"))
    asked = examples(SEVERAL)
    assert loaded.outputs(asked).tobytes() == fitted.outputs(asked).tobytes()
    assert loaded.simple is None and loaded.lower


@pytest.mark.parametrize(
    "change",
    [
        {"models": []},
        {"labels": 2},
        {"bag": 1},
        {"bag": 10**6},
        {"thresholds": [0.5]},
        {"temperature": 0},
        {"temperature": 100},
        {"characters": [0, 3]},
        {"characters": [3, 2]},
        {"characters": [2, 9]},
    ],
    ids=json.dumps,
)
def test_files_that_do_not_fit_together_are_refused(fitted, tmp_path, change):
    fitted.save(tmp_path)
    with pytest.raises(ValueError, match="do not fit together"):
        words_labels.load(tmp_path, files.read_json(tmp_path / "config.json") | change)


@pytest.mark.parametrize("name", ["words.idf", "characters.idf", f"{RATIO}.weights", f"{CHARACTERS}.bias"])
def test_a_tensor_of_another_size_is_refused(fitted, tmp_path, name):
    fitted.save(tmp_path)
    tensors = safetensors.load_file(tmp_path / "weights.safetensors")
    safetensors.save_file(tensors | {name: numpy.ascontiguousarray(tensors[name][:-1])}, tmp_path / "weights.safetensors")
    with pytest.raises(ValueError, match="do not fit together"):
        words_labels.load(tmp_path, files.read_json(tmp_path / "config.json"))


@pytest.mark.parametrize("rows", [2, 3, 6])
def test_few_rows_are_fitted_without_a_choice(rows):
    found = words_labels.fit(dataset(examples(SEVERAL[:rows]), []), LABELS, SETTINGS)
    assert found.temperature == 1.0 and found.thresholds.tolist() == [0.5] * 3
    assert numpy.isfinite(found.outputs(examples(SEVERAL))).all()


def test_a_label_that_no_row_has_is_not_predicted():
    found = words_labels.fit(dataset(examples(["dark", "warm", "dark;warm"] * 8), []), LABELS, SETTINGS)
    assert found.outputs(examples(["dark", "warm"]))[:, 4].tolist() == [0, 0]


def test_case_counts_where_the_user_says_so():
    train = [Example("all.csv", i + 2, text, target) for i, (text, target) in enumerate([("POLISH men", "dark"), ("polish shoes", "warm")] * 12)]
    found = words_labels.fit(dataset(train, []), LABELS, SimpleNamespace(lower_case="no", seed=1, validation_file=""))
    assert not found.lower
    dark, _, warm = found.outputs([Example("x", 1, "POLISH", ""), Example("x", 1, "polish", "")])[:, :3].T
    assert dark[0] > dark[1] and warm[0] < warm[1]


def test_very_long_data_is_sampled_by_the_seed(monkeypatch):
    monkeypatch.setattr(words_labels, "MAX_CHARACTERS", 400)
    train = examples(SEVERAL * 6)
    first, same, other = (
        words_labels._Fit(dataset(train, []), LABELS, SimpleNamespace(lower_case="auto", seed=s, validation_file="")).train for s in (1, 1, 2)
    )
    assert 2 <= len(first) < len(train) and first == same != other


def test_the_temperature_is_the_one_with_the_smallest_loss():
    truth = numpy.array([[True], [False], [True], [False]])
    sure = numpy.where(truth, 1.0, -1.0)
    assert words_labels._calibrated(sure, truth)[1] == pytest.approx(0.4), "more sure"
    assert words_labels._calibrated(-sure, truth)[1] == pytest.approx(2.5), "less sure"
    loss, temperature = words_labels._calibrated(numpy.zeros((4, 1)), truth)
    assert loss == pytest.approx(numpy.log(2)) and 0.4 <= temperature <= 2.5


def test_odds_are_bounded():
    from scipy import sparse

    odds = words_labels._odds(sparse.csr_matrix([[1e9], [-1e9]]), numpy.ones((1, 1)), numpy.zeros(1))
    assert odds.tolist() == [[30.0], [-30.0]]
    assert words_labels._probabilities(odds).ravel() == pytest.approx([1, 0], abs=1e-12)
