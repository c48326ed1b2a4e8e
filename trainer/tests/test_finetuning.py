"""How long an installed text encoder is finetuned where nobody chose it."""

import json
from types import SimpleNamespace

import numpy
import pytest
from conftest import events_of, small_reviews
from result_checks import check_success, setting
from test_base_model import install

from trainer.config import settings as options, spec as specs
from trainer.config.digest import digest
from trainer.core import registry
from trainer.core.plan import Rows
from trainer.models import finetuning
from trainer.models.catalogue import Base
from trainer.run import run
from trainer.run_folder.events import Events

ENCODER = Base("org/x", "text", fresh=False)


def of_tokens(tokens: int) -> Rows:
    return Rows(SimpleNamespace(lengths=numpy.asarray([tokens // 2, tokens - tokens // 2])), numpy.zeros(2))


def name_of(settings) -> str:
    return digest(settings, "split", ENCODER, {})


@pytest.fixture
def chosen(make_run):
    """chosen(tokens, base, on_gpu, begun, **parameters): the epochs. ``begun`` are the epochs of a training that has a checkpoint."""

    def choose(tokens: int, base: Base = ENCODER, on_gpu: bool = False, begun: int = 0, **parameters) -> int:
        spec = specs.load(make_run({}, **parameters))
        events = Events(spec.folder / "events.jsonl", 1, None)
        settings = options.of(spec, events)
        if begun:
            place = spec.folder / "checkpoints" / "step-000000001"
            place.mkdir(parents=True)
            (place / "state.json").write_text(json.dumps({"digest": name_of(settings.with_chosen(epochs=begun))}))
            (place.parent / "index.json").write_text(json.dumps({"best": place.name, "checkpoints": [place.name]}))
        place = finetuning.Place(spec.folder, on_gpu)
        return registry.of(base.kind).choose_epochs(settings, base, of_tokens(tokens), place, name_of, events).epochs

    return choose


@pytest.mark.parametrize(("tokens", "epochs"), [(10, 3), (116_000, 3), (117_000, 2), (175_000, 2), (176_000, 1), (10**9, 1)])
def test_an_encoder_reads_a_bounded_number_of_tokens_and_all_texts_once(chosen, tokens, epochs):
    assert chosen(tokens) == epochs


@pytest.mark.parametrize(
    ("what", "given"),
    [
        ("a person's number of epochs stays", {"epochs": 5}),
        ("GPUs train all epochs", {"on_gpu": True}),
        ("networks from random weights need them", {"base": Base("bert-tiny", "text")}),
        ("models of images are not meant", {"base": Base("org/eyes", "image", fresh=False)}),
        ("a training of an earlier version goes on", {"begun": 3}),
    ],
)
def test_other_trainings_keep_their_epochs(chosen, what, given):
    assert chosen(200_000, **given) == given.get("epochs", 3), what


def test_a_training_that_began_on_cpus_keeps_its_epochs_on_a_gpu(chosen):
    assert chosen(200_000, on_gpu=True, begun=1) == 1


def test_the_choice_is_reported_and_a_repeated_start_makes_it_again(make_run, schemas, networks_only, monkeypatch):
    monkeypatch.setattr(finetuning, "TOKENS", 100)
    spec = make_run({"all.csv": small_reviews(60)})
    install(spec.parent.parent.parent / "models", "org/base")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert setting(result, "epochs") == (1, "chosen")
    assert result["training"]["epochs"] == 1
    assert any(e["kind"] == "decision" and e["what"] == "epochs" and "tokens once" in e["why"] for e in events_of(spec.parent))
    weights = (spec.parent / "out" / "model" / "model.safetensors").read_bytes()
    (spec.parent / "result.json").unlink()
    assert run(str(spec), "local") == 0
    assert check_success(spec.parent, schemas)["training"]["resumed"] == 1
    assert (spec.parent / "out" / "model" / "model.safetensors").read_bytes() == weights
