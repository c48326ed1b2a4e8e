"""Free texts of tables that an installed text model reads: what it computes, when its vectors are used, and how a delivered model finds it again."""

import contextlib
import csv
import io
import json
import random
import shutil

import numpy
import pytest
from conftest import ROOT, events_of
from hypothesis import given, strategies as st
from result_checks import check_success, error_of
from small_datasets import table
from text_models import TINY, install

from trainer.answer.model import Model
from trainer.answer.rows import Refused
from trainer.kinds.derived.vectors import Vectors
from trainer.models import bert, text_vectors
from trainer.models.weights import Unusable, Weights, configuration
from trainer.run import run

FAMILIES = {
    "Bert": TINY,
    "XLMRoberta": TINY,
    "DistilBert": {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 24, "max_position_embeddings": 40},
}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_vectors_are_those_of_transformers(family, tmp_path):
    import torch
    import transformers

    torch.manual_seed(1)
    theirs = getattr(transformers, f"{family}Model")(getattr(transformers, f"{family}Config")(vocab_size=60, **FAMILIES[family])).eval()
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    theirs.save_pretrained(tmp_path)
    ours = bert.Encoder(configuration(tmp_path), Weights(tmp_path))
    for tokens in ([7], [5, 9, 59, 2, 2, 30]):
        with torch.no_grad():
            said = theirs(input_ids=torch.tensor([tokens])).last_hidden_state[0].mean(0).numpy()
        assert numpy.allclose(ours.mean(tokens), said, atol=1e-5)


UNUSABLE = {
    "another type": ({"model_type": "modernbert"}, "is of the type modernbert"),
    "other shapes than the weights": ({"intermediate_size": 25}, "in its weights, and its config.json says"),
    "more layers than weights": ({"num_hidden_layers": 2}, "lacks encoder.layer.1."),
    "another activation": ({"hidden_act": "silu"}, "another activation"),
    "heads that do not fit": ({"num_attention_heads": 3}, "number of heads"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_model_that_cannot_be_computed_says_why(name, tmp_path):
    changed, why = UNUSABLE[name]
    folder = install(tmp_path)
    with pytest.raises(Unusable, match=why.replace(".", r"\.")):
        bert.Encoder(configuration(folder) | changed, Weights(folder))


def rows(count: int = 300) -> list[list[str]]:
    """Each text has a word of its own, whose letters tell the outcome: no word is in two texts."""
    draw = random.Random(4)
    found = []
    for _ in range(count):
        kind = draw.choice("ab")
        word = "".join(draw.choice({"a": "aeiou", "b": "xqzvk"}[kind]) for _letter in range(9))
        found.append([f"{draw.gauss(0, 1):.2f}", f"a note of {word} and of the {draw.choice(['dry', 'wet'])} field", f"is {kind}"])
    return found


COLUMNS = ["x", "note", "outcome"]
ASKED = {"label_column": "outcome", "task": "tabular-classification"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("vectors")


@pytest.fixture
def finished(kept, make_run):
    """The folder of a training that delivers a model with vectors."""
    if not (kept / "run").exists():
        spec = make_run({"notes.csv": table(COLUMNS, rows())}, **ASKED)
        install(spec.parents[2] / "models")
        assert run(str(spec), "local") == 0
        shutil.copytree(spec.parent, kept / "run")
        shutil.copytree(spec.parents[2] / "models", kept / "models")
    return kept / "run"


def test_vectors_that_help_are_used_and_answer_alike_everywhere(finished, kept, schemas, monkeypatch):
    result, folder = check_success(finished, schemas), finished / "out" / "model"
    said = {e["what"]: e for e in events_of(finished) if e["kind"] == "decision"}
    assert said["text_vectors"]["choice"] == "org/letters"
    assert said["columns_by_loss"]["why"].startswith("The vectors by org/letters of the text column note are used: the loss on held-out rows is ")
    assert next(s["value"] for s in result["settings"] if s["name"] == "text_vectors") == "org/letters"
    column = next(c for c in _columns(folder) if c["name"] == "note")
    assert column["vectors"]["encoder"]["name"] == "org/letters" and column["vectors"]["encoder"]["commit"] == "c" * 40
    with pytest.raises(Refused, match="the installed model org/letters, which is not installed here"):
        Model(folder)
    model = Model(folder, kept / "models")
    asked = [{"x": "0.1", "note": "a note of unheardof and of the wet field"}, {"x": "0", "note": ""}, *(dict(zip(COLUMNS, r)) for r in rows(20))]
    examples = [model.form.examples(_inputs(row))[0] for row in asked]
    together = model._answers.outputs(examples)
    assert numpy.allclose(numpy.concatenate([model._answers.outputs([e]) for e in examples]), together, rtol=1e-5)
    part = next(p for p in model._answers.parts if isinstance(p, Vectors))
    kept_numbers = part.values([e.content[1] for e in examples])
    part.reader.kept.clear()
    assert numpy.array_equal(numpy.concatenate([part.values([e.content[1]]) for e in examples]), kept_numbers, equal_nan=True)
    monkeypatch.chdir(kept / "models")
    shutil.copytree(folder, kept / "models" / "model", dirs_exist_ok=True)
    (kept / "models" / "a table of yours.csv").write_text(table(COLUMNS, rows(1)))
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile((ROOT / "trainer" / "kinds" / "table" / "snippets" / "columns.py").read_text(), "columns", "exec"), names)
    assert [names["predict"](row) for row in asked] == [model.labels[i] for i in together.argmax(axis=1)]


def _columns(folder) -> list[dict]:
    config = json.loads((folder / "config.json").read_text())
    return next((m["model"] for m in config.get("members", ())), config)["columns"]


def _inputs(row: dict) -> list[dict]:
    x = {"name": "x", "shape": [1], "datatype": "FP64", "data": [float(row["x"])]}
    return [x, {"name": "note", "shape": [1], "datatype": "BYTES", "data": [row["note"]]}]


def test_a_prediction_needs_the_same_installed_model(finished, kept, make_run, tmp_path):
    version = {"path": "../../registry/model", "run": "ft-test", "name": "model", "version": 1}
    shared = tmp_path / "shared"
    shutil.copytree(finished / "out" / "model", shared / "registry" / "model")
    for seed, ends in ((None, 2), (2, 2), (1, 0)):
        if seed:
            install(shared / "models", seed=seed)
        spec = make_run({"new.csv": table(COLUMNS[:2], [r[:2] for r in rows(20)])}, run=f"ft-ask{seed or 0}", kind="predict", more={"model": version})
        assert run(str(spec), "local") == ends
        if ends:
            error = error_of(spec.parent)
            assert error["code"] == "installed_model_missing" and f"install org/letters --revision {'c' * 40}" in error["do"]
            assert ("is not installed here" if seed is None else "has other files here") in error["what"]
    answers = csv.DictReader(io.StringIO((spec.parent / "out" / "predictions.csv").read_text()))
    model = Model(finished / "out" / "model", kept / "models")
    outputs = model._answers.outputs([model.form.examples(_inputs(dict(zip(COLUMNS, r))))[0] for r in rows(20)])
    assert [a["predicted"] for a in answers] == [model.labels[i] for i in outputs.argmax(axis=1)]


OPTIONS = {
    "a name that is not installed": ({"text_vectors": "org/other"}, 2, "model_not_installed"),
    "too long for one that nobody asked for": ({"text_vectors": "auto"}, 0, "are not tried: it would take about"),
    "a network": ({"text_vectors": "org/letters", "model": "mlp"}, 2, "model_unusable"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_vectors_that_cannot_be_tried_are_said(name, make_run, monkeypatch):
    options, ends, told = OPTIONS[name]
    monkeypatch.setattr(text_vectors.TextReader, "seconds", lambda self, found: 1e4)
    spec = make_run({"notes.csv": table(COLUMNS, rows(80))}, dry_run=True, **ASKED, **options)
    install(spec.parents[2] / "models")
    assert run(str(spec), "local") == ends
    if ends:
        assert error_of(spec.parent)["code"] == told
    else:
        assert any(told in e["why"] for e in events_of(spec.parent) if e.get("what") == "text_vectors")


_PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
_ENCODER = {"name": "org/x", "sha256": "0" * 64, "license": "", "commit": ""}


@given(
    st.sampled_from(["text", "picture"]),
    st.sampled_from(["encoder", "mean", "directions", *_ENCODER]),
    _PLAIN | st.lists(_PLAIN | st.lists(_PLAIN, max_size=2), max_size=3),
)
def test_a_forged_description_is_refused_or_answers_nothing(sort, key, value):
    told = {"encoder": dict(_ENCODER), "mean": [0.0, 1.0], "directions": [[1.0], [0.5]]}
    (told["encoder"] if key in _ENCODER else told)[key] = value
    try:
        found = Vectors.restored(sort, {"vectors": told})
    except (ValueError, KeyError, TypeError):
        return
    assert len(found.mean) == len(found.directions) and len(found.names) == found.directions.shape[1]
