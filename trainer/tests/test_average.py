"""The moving average of the weights: its formula, its buffers, and a training that is resumed."""

import copy

import pytest
import torch

from trainer.train.average import DECAY, MovingAverage


def steps(model: torch.nn.Module, count: int):
    """Train ``model`` on random rows, and give the number of each step after it."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(1, count + 1):
        optimizer.zero_grad()
        model(torch.randn(8, 3)).square().mean().backward()
        optimizer.step()
        yield step


def network() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))


def test_the_average_follows_its_formula():
    model = network()
    average, want = MovingAverage(model), {n: p.detach().clone() for n, p in model.named_parameters()}
    for step in steps(model, 30):
        average.follow(step)
        decay = min(DECAY, step / (9 + step))
        for name, value in model.named_parameters():
            want[name] = decay * want[name] + (1 - decay) * value.detach()
    for name, value in average.module.named_parameters():
        assert value.numpy() == pytest.approx(want[name].numpy(), abs=1e-6), name


def test_buffers_are_those_of_the_model():
    model = network()
    average = MovingAverage(model)
    for step in steps(model, 3):
        average.follow(step)
    assert average.module[1].num_batches_tracked == 3
    assert torch.equal(average.module[1].running_mean, model[1].running_mean)


def test_the_average_has_no_gradients_and_leaves_the_model_alone():
    model = network()
    average = MovingAverage(model)
    before = copy.deepcopy(model.state_dict())
    average.follow(1)
    assert not any(p.requires_grad for p in average.module.parameters())
    assert all(p.requires_grad for p in model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before.values(), model.state_dict().values(), strict=True))


def test_an_average_that_is_resumed_goes_on_bit_for_bit():
    model = network()
    whole = resumed = MovingAverage(model)
    for step in steps(model, 20):
        whole.follow(step)
        if resumed is not whole:
            resumed.follow(step)
        if step == 10:  # as from a checkpoint, which holds the weights and the number of the step
            resumed = MovingAverage(model)
            resumed.module.load_state_dict(whole.module.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(whole.module.parameters(), resumed.module.parameters(), strict=True))
