"""The memory of a training of a language model, how the model is held for it, and what is refused."""

import dataclasses
from types import SimpleNamespace

import numpy
import pytest
from safetensors import numpy as safetensors

from trainer.errors import UserError, gigabytes
from trainer.kinds.language import footprint, held
from trainer.kinds.language.footprint import Footprint, Held

SMALL = Footprint(weights=1_000_000, trained=1_000_000, rows=4, length=512, layers=2, width=64, vocabulary=1000)


def test_the_memory_of_a_training_by_its_parts():
    activations = 2 * 4 * 512 * (34 * 2 * 64 + 10 * 1000)
    assert SMALL.needed() == 600_000_000 + 4_000_000 + 12_000_000 + activations
    assert SMALL.needed(256) == SMALL.needed() - activations // 2
    assert SMALL.needed(held=Held(recomputed=True)) == SMALL.needed() - activations + 2 * 4 * 512 * ((2 * 2 + 34) * 64 + 10 * 1000)
    adapter = dataclasses.replace(SMALL, trained=10_000)
    assert adapter.needed(held=Held(half=True)) == adapter.needed() - 2 * 990_000 - activations // 2
    assert adapter.needed(held=Held(workers=3)) == adapter.needed() - 4 * 660_000
    assert SMALL.needed(held=Held(workers=2)) == SMALL.needed() - 8 * 1_000_000
    assert dataclasses.replace(SMALL, length=1).needed(held=Held(workers=8)) == 600_000_000 + 4_000_000 + 500_000
    others = dataclasses.replace(adapter, others=90_000)
    together = 8 * 4 * 64**2
    assert others.needed() == adapter.needed()
    assert others.needed(held=Held(bits=8)) == adapter.needed() - 3 * 900_000 + together
    assert others.needed(held=Held(half=True, bits=4)) == adapter.needed(held=Held(half=True)) - int(1.46875 * 900_000) + together
    assert dataclasses.replace(adapter, others=1_000_000).needed(held=Held(bits=4)) == adapter.needed()


GB = 1_000_000_000
LARGE = Footprint(weights=7 * GB, trained=40_000_000, rows=8, length=1024, layers=32, width=4096, vocabulary=32_000)
WHOLE = dataclasses.replace(LARGE, trained=7 * GB)
EXPERTS = dataclasses.replace(LARGE, others=7 * GB)
CPU, OLD_CPU, GPU, OLD_GPU = ((False, True), (False, False), (True, True), (True, False))
AUTO = {"frozen_weights": "auto", "recompute": "auto", "spread_weights": "auto", "mixed_precision": "auto", "optimizer": "adamw"}


@pytest.mark.parametrize(
    ("needs", "options", "device", "size", "wanted"),
    [
        (LARGE, {}, GPU, 80, Held(True, False)),
        (LARGE, {}, GPU, 40, Held(True, True)),
        (LARGE, {}, OLD_GPU, 200, Held(False, False)),
        (LARGE, {}, OLD_GPU, 80, Held(False, True)),
        (LARGE, {}, CPU, 200, Held(False, False)),
        (LARGE, {}, CPU, 80, Held(True, False)),
        (LARGE, {}, CPU, 40, Held(True, True)),
        (LARGE, {}, OLD_CPU, 40, Held(False, True, bits=8)),
        (LARGE, {}, CPU, 15, Held(True, True, bits=8)),
        (LARGE, {}, CPU, 10, Held(True, True, bits=4)),
        (LARGE, {}, GPU, 17, Held(True, True)),
        (LARGE, {}, GPU, 12, Held(True, True, bits=8)),
        (LARGE, {}, GPU, 8, Held(True, True, bits=4)),
        (EXPERTS, {}, GPU, 8, Held(True, True)),
        (LARGE, {"frozen_weights": "fp32"}, GPU, 200, Held(False, False)),
        (LARGE, {"frozen_weights": "bf16"}, OLD_CPU, 200, Held(True, False)),
        (LARGE, {"frozen_weights": "nf4"}, GPU, 200, Held(True, False, bits=4)),
        (LARGE, {"frozen_weights": "int8"}, OLD_CPU, 200, Held(False, False, bits=8)),
        (LARGE, {"mixed_precision": "fp32"}, GPU, 200, Held(False, False)),
        (LARGE, {"recompute": "no"}, GPU, 20, Held(True, False, bits=8)),
        (LARGE, {"recompute": "yes"}, GPU, 200, Held(True, True)),
        (SMALL, {}, GPU, 80, Held(False, False)),
        (SMALL, {"frozen_weights": "bf16"}, GPU, 80, Held(False, False)),
        (SMALL, {"frozen_weights": "nf4"}, GPU, 80, Held(False, False)),
    ],
)  # fmt: skip
def test_how_a_model_is_held_follows_from_the_memory(needs, options, device, size, wanted):
    assert held.chosen(needs, SimpleNamespace(**AUTO | options), held.Place(*device, size * GB)) == wanted


@pytest.mark.parametrize(
    ("needs", "options", "size", "wanted"),
    [
        (LARGE, {}, 40, Held(True, True, 1)),
        (LARGE, {}, 20, Held(True, True, 4)),
        (LARGE, {}, 10, Held(True, True, 4, bits=8)),
        (LARGE, {"spread_weights": "no"}, 20, Held(True, True, 1, bits=8)),
        (LARGE, {"spread_weights": "yes"}, 80, Held(True, False, 4)),
        (SMALL, {"spread_weights": "yes"}, 80, Held(False, False, 4)),
        (WHOLE, {}, 200, Held(False, False, 1)),
        (WHOLE, {}, 50, Held(False, True, 4)),
        (WHOLE, {"optimizer": "adafactor"}, 50, Held(False, True, 1)),
        (WHOLE, {"mixed_precision": "fp16"}, 50, Held(False, True, 1)),
    ],
)
def test_weights_are_spread_over_workers_where_they_do_not_fit_into_one(needs, options, size, wanted):
    assert held.chosen(needs, SimpleNamespace(**AUTO | options), held.Place(*GPU, size * GB, 4)) == wanted


def test_an_optimizer_that_does_not_work_on_spread_weights_is_refused_where_a_user_wants_both():
    wanted = SimpleNamespace(**AUTO | {"optimizer": "adafactor", "spread_weights": "yes"})
    assert held.chosen(WHOLE, wanted, held.Place(*GPU, GB)).workers == 1
    with pytest.raises(UserError, match="adafactor does not work on weights that are spread"):
        held.chosen(WHOLE, wanted, held.Place(*GPU, GB, 2))


def test_what_is_said_of_how_a_model_is_held():
    assert held.decisions(Held(), LARGE) == []
    assert held.decisions(Held(half=True, recomputed=True, workers=4), LARGE) == [
        ("frozen_weights", "bf16", "The weights that are not trained are held in bf16, and the model computes in it: about 53 GB less of memory."),
        ("recompute", "yes", "Activations are computed again in the backward pass: about 33 GB less of memory, in about a third more time."),
        ("spread_weights", "yes", "Each of the 4 workers holds a part of the weights that are not trained: about 10 GB less of memory for each."),
    ]
    assert held.decisions(Held(half=True, bits=4), LARGE) == [
        (
            "frozen_weights",
            "nf4",
            "The weights of linear layers, which are not trained, are held in 4 bits (nf4): about 63 GB less of memory. "
            "The adapter belongs to these rounded weights; on the weights as they are installed, its answers differ a little.",
        )
    ]


@pytest.mark.parametrize(
    ("config", "settings", "shape", "wanted"),
    [
        (
            {"num_hidden_layers": 3, "hidden_size": 10, "intermediate_size": 20, "vocab_size": 7}, (8, 2), {"finetuning": "full"},
            Footprint(12, 12, 4, 64, 3, 10, 7, 140),
        ),
        (
            {"n_layer": 3, "n_embd": 10, "tie_word_embeddings": True}, (7, 2), {"finetuning": "lora", "rank": 2},
            Footprint(12, 2 * 3 * (80 + 3 * 50), 4, 64, 3, 10, 99, 990),
        ),
        ({"num_hidden_layers": 0, "hidden_size": "x"}, (8, 0), {"finetuning": "full"}, Footprint(12, 12, 8, 64, 12, 768, 99, 2 * 99 * 768)),
        ({"hidden_size": 10, "num_experts": 4}, (8, 0), {"finetuning": "full"}, Footprint(12, 12, 8, 64, 12, 10, 99, 12)),
    ],
    ids=["full finetuning", "LoRA and the names of GPT-2", "sizes that are not known", "a mixture of experts"],
)  # fmt: skip
def test_the_footprint_of_an_installed_model(tmp_path, config, settings, shape, wanted):
    safetensors.save_file({"a": numpy.zeros((2, 3), numpy.float32), "b": numpy.zeros(5, numpy.float32)}, tmp_path / "model-1.safetensors")
    safetensors.save_file({"c": numpy.ones((), numpy.float32)}, tmp_path / "model-2.safetensors")
    batch, parts = settings
    found = footprint.of(
        tmp_path, config, SimpleNamespace(batch_size=batch, gradient_accumulation=parts), {"max_length": 64, "vocabulary_size": 99, **shape}
    )
    assert found == wanted


@pytest.mark.parametrize(
    ("needs", "method", "sentence"),
    [
        (
            SMALL, "lora",
            "org/tiny has 1 million weights: LoRA needs about 0.7 GB and the worker has 0.1 GB. "
            "Choose a smaller model, max_length 256 (0.6 GB), or ask for more memory.",
        ),
        (
            Footprint(7_000_000_000, 7_000_000_000, 4, 256, 2, 64, 1000), "full",
            "org/tiny has 7.0 billion weights: full finetuning needs about 113 GB and the worker has 0.1 GB. "
            "Choose a smaller model, a smaller batch_size, or ask for more memory.",
        ),
    ],
)  # fmt: skip
def test_a_model_that_does_not_fit_is_refused(needs, method, sentence):
    with pytest.raises(UserError) as refused:
        footprint.check(needs, 100_000_000, "org/tiny", method)
    assert (refused.value.code, str(refused.value)) == ("model_memory", sentence)
    footprint.check(needs, needs.needed(), "org/tiny", method)
    with pytest.raises(UserError):
        footprint.check(needs, needs.needed() - 1, "org/tiny", method)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0.0 GB"), (640_000_000, "0.6 GB"), (9_940_000_000, "9.9 GB"), (10_000_000_000, "10 GB"), (113.4e9, "113 GB")]
)
def test_bytes_as_text(size, text):
    assert gigabytes(size) == text


@pytest.mark.parametrize(("number", "text"), [(1, "1 million"), (135_400_000, "135 million"), (999_000_000, "999 million"), (10**9, "1.0 billion")])
def test_numbers_of_weights_as_text(number, text):
    assert footprint.spelled_count(number) == text
