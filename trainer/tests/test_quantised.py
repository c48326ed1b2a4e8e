"""Weights in few bits: what they become, how much room they take, and what gradients go through them."""

import pytest
from hypothesis import given, settings, strategies as st

torch = pytest.importorskip("torch")

from trainer.kinds.language import footprint  # noqa: E402 - after the check for torch
from trainer.models import quantised, transformer  # noqa: E402
from trainer.models.quantised import QuantisedLinear  # noqa: E402

BITS = pytest.mark.parametrize("bits", quantised.BITS)


def weights(outputs: int, inputs: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(outputs, inputs, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("bits", "error"), [(8, 0.01), (4, 0.1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_weights_change_by_a_small_share(bits, error, dtype):
    exact = weights(50, 96).to(dtype)
    found = quantised.rounded(exact, bits)
    assert (found.shape, found.dtype) == (exact.shape, dtype)
    assert 0 < ((found - exact).float().norm() / exact.float().norm()).item() < error


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 150), st.sampled_from(quantised.BITS), st.floats(-30, 30), st.integers(0, 99))
def test_no_weight_is_further_away_than_half_the_widest_gap(outputs, inputs, bits, power, seed):
    """Of 8 bits: half of 1/127 of the largest of its row; of 4 bits: half of 0.304 of the largest of its block, whose factor is rounded to bf16."""
    exact = weights(outputs, inputs, seed) * 2.0**power
    exact[0] = 0
    found = quantised.rounded(exact, bits)
    assert torch.isfinite(found).all() and not found[0].any()
    largest = exact.abs().amax(dim=1, keepdim=True) if bits == 8 else exact.abs().max()
    assert ((found - exact).abs() <= largest * (0.501 / 127 if bits == 8 else 0.157)).all()


@BITS
def test_rounding_again_and_in_parts_changes_nothing(bits, monkeypatch):
    exact = weights(40, 64)
    once = quantised.rounded(exact, bits)
    monkeypatch.setattr(quantised, "_AT_ONCE", 640)
    assert torch.equal(quantised.rounded(exact, bits), once)
    assert torch.allclose(quantised.rounded(once, bits), once, rtol=1e-2)


@BITS
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_layer_computes_with_its_rounded_weights_and_passes_gradients_on(bits, dtype):
    layer = torch.nn.Linear(96, 10).to(dtype).requires_grad_(False)
    few = QuantisedLinear(layer.weight, layer.bias, bits)
    layer.weight.copy_(quantised.unpacked(few.codes, few.factors, (10, 96), dtype))
    found, gradients = [], []
    for one in (few, layer):
        x = weights(7, 96).to(dtype).requires_grad_()
        found.append(one(x))
        found[-1].square().sum().backward()
        gradients.append(x.grad)
    assert found[0].dtype == dtype
    assert torch.allclose(*found, atol=1e-5 if dtype == torch.float32 else 0.05, rtol=0.01)
    assert torch.allclose(*gradients, atol=1e-4 if dtype == torch.float32 else 0.1, rtol=0.02)
    assert not any(p.requires_grad for p in few.parameters())


@BITS
def test_autocast_decides_the_precision_of_the_product(bits):
    few = QuantisedLinear(weights(10, 96), None, bits)
    with torch.autocast("cpu", torch.bfloat16):
        assert few(weights(3, 96)).dtype == torch.bfloat16
    assert few(weights(3, 96)).dtype == torch.float32


@BITS
def test_the_room_and_the_count_of_weights(bits):
    few = QuantisedLinear(weights(1024, 512), None, bits)
    held = sum(p.numel() * p.element_size() for p in few.parameters())
    assert held == pytest.approx(footprint.BYTES[bits] * 1024 * 512, rel=0.01)
    assert transformer.parameters(torch.nn.Sequential(few)) == 1024 * 512
    assert quantised.bits_of(torch.nn.Sequential(few)) == bits


def test_only_other_frozen_weights_get_another_type():
    few = QuantisedLinear(weights(4, 64), torch.nn.Parameter(torch.zeros(4), requires_grad=False), 8)
    model = torch.nn.Sequential(few, torch.nn.LayerNorm(4).requires_grad_(False), torch.nn.Linear(4, 1))
    quantised.set_others(model, torch.bfloat16)
    kinds = {name: p.dtype for name, p in model.named_parameters()}
    half, whole = torch.bfloat16, torch.float32
    assert kinds == {
        "0.codes": torch.int8, "0.factors": whole, "0.bias": half, "1.weight": half, "1.bias": half, "2.weight": whole, "2.bias": whole,
    }  # fmt: skip


@BITS
def test_layers_whose_inputs_come_first_are_rounded_like_others(bits):
    """GPT-2 has them."""
    peft = pytest.importorskip("peft")
    from transformers import GPT2Config, GPT2LMHeadModel

    from trainer.kinds.language import lora

    torch.manual_seed(0)
    made = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=64, n_layer=1, n_head=2, initializer_range=0.3))
    base = {name: tensor.clone() for name, tensor in made.state_dict().items()}
    asked, answers = torch.arange(12).view(1, 12), []
    for hold in (lora.hold, lora.round_base):
        made.load_state_dict(base)
        model = lora.wrap(made, 2, 4, seed=0).eval()
        hold(model, bits)
        with torch.inference_mode():
            answers.append(model(asked).logits)
        made = GPT2LMHeadModel(made.config)
    assert isinstance(model, peft.PeftModel)
    assert torch.allclose(*answers, atol=1e-4)


@pytest.mark.parametrize(
    ("told", "bits"),
    [(None, 0), (b'{"bits": 8}', 8), (b'{"bits": 4}', 4), (b'{"bits": 3}', None), (b'{"bits": "8"}', None), (b'{"bits": true}', None),
     (b'{"bits": []}', None), (b"[]", None), (b"{}", None), (b"", None), (b"\xff", None)],
    ids=["no file", "8", "4", "3", "text", "a flag", "a list", "no object", "nothing", "empty", "no UTF-8"],
)  # fmt: skip
def test_an_adapter_says_the_bits_of_its_base(tmp_path, told, bits):
    from trainer.kinds.language import lora

    if told is not None:
        (tmp_path / lora.BASE).write_bytes(told)
    if bits is None:
        with pytest.raises(ValueError):  # noqa: PT011 - of JSON or of its content
            lora.base_bits(tmp_path)
    else:
        assert lora.base_bits(tmp_path) == bits
