"""The precision of a step by the device, and a step for which the memory is too small."""

import pytest
import torch
from conftest import small_reviews
from result_checks import check_success, codes, error_of, weights
from small_datasets import flowers, in_folders, squares

from trainer.core import registry
from trainer.models.catalogue import Base
from trainer.run import run
from trainer.train import loop, step

CPU, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize(
    ("device", "has_bf16", "gains", "wanted", "precision"),
    [
        (CPU, True, True, "auto", "bf16"),
        (CPU, True, False, "auto", "fp32"),
        (CPU, False, True, "auto", "fp32"),
        (CPU, True, False, "bf16", "bf16"),
        (CPU, False, False, "bf16", "fp32"),
        (CPU, True, True, "fp16", "fp32"),
        (CPU, True, True, "fp32", "fp32"),
        (GPU, True, False, "auto", "bf16"),
        (GPU, False, False, "auto", "fp16"),
        (GPU, True, False, "bf16", "bf16"),
        (GPU, False, False, "bf16", "fp32"),
        (GPU, True, False, "fp16", "fp16"),
        (GPU, True, True, "fp32", "fp32"),
    ],
)
def test_half_precision_is_for_devices_that_have_it_and_for_trainings_that_gain_from_it(monkeypatch, device, has_bf16, gains, wanted, precision):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: has_bf16)
    monkeypatch.setattr(step, "has_bf16", lambda: has_bf16)
    assert step._precision(wanted, device, gains) == precision


@pytest.mark.parametrize(("can", "has"), [({"avx512_bf16": True}, True), ({"amx_bf16": True}, True), ({"avx512_bf16": False, "avx2": True}, False)])
def test_a_cpu_has_bf16_by_its_instructions(monkeypatch, can, has):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: can)
    assert step.has_bf16() is has


@pytest.mark.parametrize(
    ("base", "gains"),
    [
        (Base("bert-tiny", "text"), False),
        (Base("org/large", "text", fresh=False), True),
        (Base("org/large", "tokens", fresh=False), False),
        (Base("org/eyes", "image", fresh=False), False),
        (Base("small-cnn", "image"), True),
        (Base("mlp", "table"), False),
    ],
)
def test_which_trainings_gain_from_bf16_on_cpus(base, gains):
    assert registry.of(base.kind).bf16_on_cpus(base) is gains


def test_a_bf16_training_on_a_cpu_is_resumed_with_the_same_bits(make_run, monkeypatch, schemas, lone_network):
    monkeypatch.setattr(step, "has_bf16", lambda: True)  # torch computes it on every CPU
    whole = make_run(in_folders(squares(40)), run="ft-whole", model="small-cnn", epochs=3)
    assert run(str(whole), "local") == 0
    assert check_success(whole.parent, schemas)["training"]["precision"] == "bf16"
    real = step.Stepper.step
    with monkeypatch.context() as once:
        once.setattr(step.Stepper, "step", lambda self, data, batch, n: real(self, data, batch, n) if n != 2 else 1 / 0)
        once.setattr(loop, "BETWEEN_SAVES_SECONDS", 0.0)
        cut = make_run(in_folders(squares(40)), run="ft-cut", model="small-cnn", epochs=3)
        assert run(str(cut), "local") == 1
    assert run(str(cut), "local") == 0
    assert check_success(cut.parent, schemas)["training"]["resumed"] == 1
    assert weights(cut.parent) == weights(whole.parent)


@pytest.mark.skipif(not torch.set_flush_denormal(False), reason="this CPU cannot flush denormal numbers")
def test_a_training_flushes_denormal_numbers_and_what_follows_it_does_not():
    tiny = torch.full((1,), 1e-40)
    with step.without_denormals():
        assert (tiny * 0.5).item() == 0.0
    assert (tiny * 0.5).item() > 0.0


@pytest.fixture
def memory(monkeypatch):
    """memory(rows) lets the memory be used up by more rows than these at once; returns the numbers of rows that were tried."""

    def of(most: int) -> list[int]:
        tried, real = [], step.Stepper.loss

        def loss(stepper, model, data, rows, random):
            tried.append(len(rows))
            if len(rows) > most:
                raise torch.OutOfMemoryError("CUDA out of memory.")
            return real(stepper, model, data, rows, random)

        monkeypatch.setattr(step.Stepper, "loss", loss)
        return tried

    return of


def test_a_batch_that_is_too_large_is_halved_with_a_warning(make_run, memory, schemas, lone_network):
    tried = memory(most=8)
    spec = make_run({"t.csv": flowers()}, model="mlp", epochs=1)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert tried[:4] == [32, 16, 8, 8]  # by the estimate, before the first step
    assert result["training"]["accumulation"] == 4
    assert codes(result).count("memory") == 1


def test_the_parts_that_were_asked_for_are_those_of_the_estimate_too(make_run, memory, schemas, lone_network):
    tried = memory(most=8)
    spec = make_run({"t.csv": flowers()}, model="mlp", epochs=1, more_options="gradient_accumulation: 4")
    assert run(str(spec), "local") == 0
    assert max(tried) == 8
    assert "memory" not in codes(check_success(spec.parent, schemas))


def test_a_memory_too_small_for_a_few_rows_is_a_sentence(make_run, memory, lone_network):
    tried = memory(most=1)
    spec = make_run({"all.csv": small_reviews(60)}, model="bert-tiny", epochs=1)
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "gpu_memory"
    assert tried == [32 >> n for n in range(step.MAX_HALVINGS + 1)]


class TooLarge(torch.amp.GradScaler):
    """A scale that is too large at first, so that some steps are left out until it fits."""

    def __init__(self, device: str):
        super().__init__(device, init_scale=2.0**21)


def test_a_resumed_fp16_training_keeps_its_gradient_scale(make_run, monkeypatch, schemas, lone_network):
    monkeypatch.setattr(torch.amp, "GradScaler", TooLarge)
    monkeypatch.setattr(step, "_precision", lambda *_: "fp16")
    options = {"epochs": 4, "max_length": 8, "more_options": "early_stopping_patience: 0"}  # fp16 is slow on CPUs
    whole = make_run({"all.csv": small_reviews(60)}, model="bert-tiny", run="ft-whole", **options)
    assert run(str(whole), "local") == 0
    assert check_success(whole.parent, schemas)["training"]["precision"] == "fp16"

    real = step.Stepper.step
    with monkeypatch.context() as once:
        once.setattr(step.Stepper, "step", lambda self, data, batch, n: real(self, data, batch, n) if n != 7 else 1 / 0)
        cut = make_run({"all.csv": small_reviews(60)}, model="bert-tiny", run="ft-cut", **options)
        assert run(str(cut), "local") == 1
    assert run(str(cut), "local") == 0
    assert check_success(cut.parent, schemas)["training"]["resumed"] == 1
    assert weights(cut.parent) == weights(whole.parent)


def test_the_random_state_of_a_step_equals_manual_seed():
    for seed in (0, 7, 2**62):
        step._seed(CPU, seed)
        ours = torch.rand(3)
        torch.manual_seed(seed)
        assert torch.equal(ours, torch.rand(3))
