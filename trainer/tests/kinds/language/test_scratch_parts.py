"""Models from scratch: the vocabulary that is learnt, and the shapes."""

import json
import subprocess
import sys

import numpy
import pytest
import torch
from hypothesis import given, settings, strategies as st

from trainer.kinds.language import bpe, shapes
from trainer.kinds.language.shapes import Shape

TEXT = "The sea was grey and the ship was slow.\nNobody said a word until the bell rang twice.\n" * 40


@pytest.fixture(scope="module")
def learned():
    return bpe.learn([TEXT])


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read_back_exactly(text):
    tokenizer = bpe.learn([TEXT])
    ids = bpe.encode(tokenizer, text)
    assert tokenizer.decode(ids.tolist(), skip_special_tokens=False) == text
    assert bpe.byte_lengths(tokenizer)[ids].sum() == len(text.encode())


def test_a_text_that_spells_the_end_does_not_end(learned):
    end = learned.token_to_id(bpe.END)
    assert end not in bpe.encode(learned, f"one {bpe.END} two")


def test_long_documents_are_encoded_in_parts(learned, monkeypatch):
    whole = bpe.encode(learned, TEXT)
    monkeypatch.setattr(bpe, "_CHUNK", 100)
    assert numpy.array_equal(bpe.encode(learned, TEXT), whole)


def test_another_process_learns_the_same_vocabulary(learned):
    program = f"from trainer.kinds.language import bpe; print(bpe.learn([{TEXT!r}]).to_str())"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert json.loads(out) == json.loads(learned.to_str())


@pytest.mark.parametrize(("size", "want"), [(0, 512), (100_000, 512), (1_000_000, 2048), (4_000_000, 4096), (10**12, 16_384)])
def test_the_vocabulary_grows_with_the_text(size, want):
    assert bpe.size_for(size) == want


@pytest.mark.parametrize(
    ("shape", "kind", "weights"),
    [
        (Shape(3, 144, 65, 64), "LlamaForCausalLM", 756_864),
        (Shape(3, 144, 65, 64, experts=4, router_loss=0.1), "MixtralForCausalLM", None),
        (Shape(2, 96, 300, 32, experts=8), "MixtralForCausalLM", None),
        (Shape(6, 288, 4096, 256), "LlamaForCausalLM", None),
    ],
)
def test_the_weights_are_counted_without_a_model(shape, kind, weights):
    with torch.device("meta"):
        model = shapes.build(shape)
    assert type(model).__name__ == kind
    assert sum(p.numel() for p in model.parameters()) == shape.parameters == (weights or shape.parameters)
    assert shape.used <= shape.parameters


def test_experts_cost_a_token_no_more_weights():
    assert Shape(3, 144, 65, 64, experts=8).used == Shape(3, 144, 65, 64).used + 3 * 8 * 144  # the routers


def test_the_router_loss_is_part_of_the_loss():
    torch.manual_seed(1)
    ids = torch.randint(0, 65, (2, 16))
    shape = Shape(2, 96, 65, 16, experts=4, router_loss=0.1)
    out = shapes.build(shape)(input_ids=ids, labels=ids, output_router_logits=True)
    assert out.aux_loss > 0


@pytest.mark.parametrize(("size", "layers", "width"), [(1, 3, 144), (8_000_000, 3, 144), (20_000_000, 6, 288), (10**12, 8, 576)])
def test_more_text_gets_a_larger_shape(size, layers, width):
    shape = shapes.choose(size, 2048, 256)
    assert (shape.layers, shape.width, shape.heads * shapes.HEAD) == (layers, width, width)
