"""Training by a copy of the weights in bf16, as on GPUs. torch computes in bf16 on every CPU, so these tests need no GPU."""

from types import SimpleNamespace

import pytest
import torch
from conftest import small_reviews
from result_checks import check_success, weights

from trainer.core import registry
from trainer.launch import process_group
from trainer.run import run
from trainer.train import loop, step
from trainer.train.half_copy import HalfCopy, pays

CPU, GPU = torch.device("cpu"), torch.device("cuda")
INPUTS = torch.linspace(-1, 1, 24).reshape(6, 4)


@pytest.fixture
def copied(monkeypatch, lone_network):
    """Trainings use a copy in bf16, and nothing is done beside them."""
    monkeypatch.setattr(step, "_precision", lambda *_: "bf16")
    monkeypatch.setattr(step, "pays", lambda *_: True)


def network() -> torch.nn.Module:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1))


def gradients(model: torch.nn.Module) -> list[torch.Tensor]:
    return [p.grad for p in model.parameters()]


def exact(inputs: torch.Tensor) -> list[torch.Tensor]:
    """The gradients in fp32."""
    model = network()
    model(inputs).sum().backward()
    return gradients(model)


def assert_close(found: list[torch.Tensor], wanted: list[torch.Tensor]) -> None:
    """Within the precision of bf16, which has 8 bits."""
    for mine, right in zip(found, wanted, strict=True):
        assert mine.dtype == torch.float32
        assert (mine - right).norm() <= 0.02 * right.norm() + 1e-6


def test_a_copy_gives_its_gradients_to_the_weights_in_fp32_and_forgets_them():
    model = network()
    half = HalfCopy(model)
    half.model(INPUTS.bfloat16()).sum().backward()
    assert not any(g is not None for g in gradients(model))
    half.give_gradients()
    assert not any(g is not None for g in gradients(half.model))
    assert_close(gradients(model), exact(INPUTS))


def test_gradients_of_several_parts_add_up_in_fp32():
    model = network()
    half = HalfCopy(model)
    for part in INPUTS.split(2):
        half.model(part.bfloat16()).sum().backward()
        half.give_gradients()
    assert_close(gradients(model), exact(INPUTS))


def test_a_weight_that_no_row_reaches_has_no_gradient():
    model = torch.nn.ModuleDict({"used": torch.nn.Linear(4, 1), "unused": torch.nn.Linear(4, 1)})
    half = HalfCopy(model)
    half.model["used"](INPUTS.bfloat16()).sum().backward()
    half.give_gradients()
    assert model["used"].weight.grad is not None
    assert model["unused"].weight.grad is None


def test_a_copy_takes_the_weights_that_the_optimizer_changed_and_leaves_them_in_fp32():
    model = network()
    half = HalfCopy(model)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.3
    half.take_weights()
    for theirs, mine in zip(model.parameters(), half.model.parameters(), strict=True):
        assert mine.dtype == torch.bfloat16
        assert torch.equal(mine, theirs.bfloat16())
        assert mine.requires_grad


def test_shared_weights_stay_shared_in_the_copy():
    model = network()
    model.last = model[3]
    half = HalfCopy(model)
    assert half.model.last.weight is half.model[3].weight
    assert len(list(half.model.parameters())) == 6


def test_a_copy_in_a_process_group_gives_the_sum_of_all_parts_once():
    process_group.join("cpu", 0, 1, process_group.store("127.0.0.1", 0, 1, first=True))
    try:
        model = network()
        half = HalfCopy(model)
        together = torch.nn.parallel.DistributedDataParallel(half.model, gradient_as_bucket_view=True)
        for _ in range(2):  # the second step finds no gradients of the first one
            half.take_weights()
            with together.no_sync():
                together(INPUTS[:3].bfloat16()).sum().backward()
            together(INPUTS[3:].bfloat16()).sum().backward()
            model.zero_grad(set_to_none=True)
            half.give_gradients()
            assert_close(gradients(model), exact(INPUTS))
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize(
    ("device", "kind", "frozen", "wanted"),
    [
        (GPU, "text", False, True),
        (GPU, "tokens", False, True),
        (GPU, "language", False, True),
        (GPU, "language", True, False),  # adapters
        (GPU, "image", False, False),
        (GPU, "table", False, False),
        (GPU, "graph", False, False),
        (CPU, "text", False, False),
    ],
)
def test_which_trainings_use_a_copy(device, kind, frozen, wanted):
    model = network()
    model[0].requires_grad_(not frozen)
    assert pays(device, SimpleNamespace(kind=registry.of(kind)), model) is wanted


@pytest.mark.usefixtures("copied")
def test_a_training_by_a_copy_learns_what_one_by_autocast_learns(make_run, monkeypatch, schemas):
    losses = {}
    for name, used in (("copy", True), ("autocast", False)):
        monkeypatch.setattr(step, "pays", lambda *_, used=used: used)
        spec = make_run({"all.csv": small_reviews(240)}, model="bert-tiny", run=f"ft-{name}", epochs=2)
        assert run(str(spec), "local") == 0
        result = check_success(spec.parent, schemas)
        assert result["training"]["precision"] == "bf16"
        losses[name] = result["metrics"]["validation"]["loss"]["value"]
    assert losses["copy"] == pytest.approx(losses["autocast"], abs=0.02)
    assert losses["copy"] != losses["autocast"]


@pytest.mark.usefixtures("copied")
def test_a_training_by_a_copy_is_resumed_with_the_same_bits(make_run, monkeypatch, schemas):
    options = {"epochs": 3, "model": "bert-tiny", "max_length": 16, "more_options": "gradient_accumulation: 2"}
    whole = make_run({"all.csv": small_reviews(90)}, run="ft-whole", **options)
    assert run(str(whole), "local") == 0
    real = step.Stepper.step
    with monkeypatch.context() as once:
        once.setattr(step.Stepper, "step", lambda self, data, batch, n: real(self, data, batch, n) if n != 4 else 1 / 0)
        once.setattr(loop, "BETWEEN_SAVES_SECONDS", 0.0)
        cut = make_run({"all.csv": small_reviews(90)}, run="ft-cut", **options)
        assert run(str(cut), "local") == 1
    assert run(str(cut), "local") == 0
    assert check_success(cut.parent, schemas)["training"]["resumed"] == 1
    assert weights(cut.parent) == weights(whole.parent)


@pytest.mark.usefixtures("copied")
def test_a_batch_that_is_too_large_for_the_memory_is_halved_and_counted_once(make_run, monkeypatch, schemas):
    real, full = torch.Tensor.backward, []

    def backward(loss, *arguments):
        real(loss, *arguments)
        if len(full) < 2:  # in the estimate, then in the first step, after its gradients exist
            full.append(True)
            raise torch.OutOfMemoryError("CUDA out of memory.")

    found = {}
    for name, patched in (("halved", backward), ("asked", real)):
        with monkeypatch.context() as once:
            once.setattr(torch.Tensor, "backward", patched)
            once.setattr(loop.estimate, "seconds", lambda *_: 0.0)
            full.clear()
            options = "" if name == "halved" else "gradient_accumulation: 4"
            spec = make_run({"all.csv": small_reviews(90)}, run=f"ft-{name}", model="bert-tiny", max_length=16, epochs=1, more_options=options)
            assert run(str(spec), "local") == 0
        assert check_success(spec.parent, schemas)["training"]["accumulation"] == 4
        found[name] = weights(spec.parent)
    assert found["halved"] == found["asked"]
