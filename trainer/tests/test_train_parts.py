"""The parts of a training without a training: batches, learning rates, durations, and the objective."""

import itertools
import math
from types import SimpleNamespace

import numpy
import pytest
import torch
from hypothesis import given, settings, strategies as st

from trainer.targets.classes import Classes
from trainer.targets.number import Number
from trainer.train import batches, estimate
from trainer.train.objective import Objective
from trainer.train.optimize import Optimization
from trainer.train.rate import learning_rate

QUICK = settings(max_examples=60, deadline=None)
LENGTHS = st.lists(st.integers(1, 512), min_size=1, max_size=200).map(numpy.asarray)
SIZES, SEEDS = st.integers(1, 70), st.integers(0, 2**31 - 1)


@QUICK
@given(LENGTHS, SIZES, SEEDS, st.integers(0, 200))
def test_every_row_is_in_exactly_one_batch_of_an_epoch(lengths, size, seed, epoch):
    found = batches.training(lengths, size, seed, epoch)
    assert sorted(itertools.chain(*found)) == list(range(len(lengths)))
    assert sum(len(batch) < size for batch in found) <= 1
    assert max(map(len, found)) <= size
    again = batches.training(lengths, size, seed, epoch)
    assert all(numpy.array_equal(a, b) for a, b in zip(found, again, strict=True))


def test_another_seed_or_another_epoch_gives_another_order():
    lengths = numpy.arange(1, 200)
    orders = {tuple(itertools.chain(*batches.training(lengths, 8, seed, epoch))) for seed in (1, 2) for epoch in (0, 1)}
    assert len(orders) == 4


def test_batches_of_similar_length_need_little_padding():
    lengths = numpy.random.default_rng(1).integers(1, 500, 2000)
    padded = sum(lengths[b].max() * len(b) for b in batches.training(lengths, 16, 1, 0))
    assert padded < 1.1 * lengths.sum()
    order = [int(lengths[b].max()) for b in batches.training(lengths, 16, 1, 0)]
    assert order != sorted(order)  # the batches themselves come in random order


@QUICK
@given(st.integers(1, 40), st.integers(1, 9))
def test_the_shares_of_all_workers_are_the_batch_and_no_worker_is_without_rows(rows, world):
    batch = numpy.arange(100, 100 + rows)
    shares = [batches.share(batch, rank, world) for rank in range(world)]
    assert set(numpy.concatenate(shares)) == set(batch)
    assert all(len(share) for share in shares)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    assert sum(map(len, shares)) == max(rows, world)


@QUICK
@given(LENGTHS, SIZES, st.integers(1, 9))
def test_the_workers_evaluate_every_row_exactly_once(lengths, size, world):
    found = [row for rank in range(world) for batch in batches.evaluation(lengths, size, rank, world) for row in batch]
    assert sorted(found) == list(range(len(lengths)))


def optimization(steps: int = 100, warmup: float = 0.1, scheduler: str = "linear", **more) -> Optimization:
    asked = {"warmup_ratio": warmup, "scheduler": scheduler, "optimizer": "sgd", "weight_decay": 0.0, "max_grad_norm": 0.0, **more}
    return Optimization(torch.nn.Linear(2, 1), SimpleNamespace(**asked), 0.5, steps, None)


@pytest.mark.parametrize(
    ("scheduler", "at"),
    [
        ("linear", {0: 0.1, 4: 0.5, 9: 1.0, 10: 1.0, 55: 0.5, 99: 1 / 90}),
        ("cosine", {0: 0.1, 9: 1.0, 10: 1.0, 55: 0.5, 32.5: 0.5 + 0.5 * math.cos(math.pi / 4)}),
        ("constant", {0: 0.1, 9: 1.0, 50: 1.0, 99: 1.0}),
    ],
)
def test_the_learning_rate_rises_and_falls_by_its_formula(scheduler, at):
    schedule = optimization(scheduler=scheduler)
    assert {step: schedule._share(step) for step in at} == pytest.approx(at)


@QUICK
@given(st.integers(1, 500), st.floats(0, 0.5), st.sampled_from(["linear", "cosine", "constant"]))
def test_the_learning_rate_is_a_share_of_its_peak_at_every_step(steps, warmup, scheduler):
    schedule = optimization(steps, warmup, scheduler)
    shares = [schedule._share(step) for step in range(steps)]
    assert all(0 < share <= 1 for share in shares)
    peak = shares.index(max(shares))
    assert shares[:peak] == sorted(shares[:peak])
    assert shares[peak:] == sorted(shares[peak:], reverse=True)
    assert schedule._share(steps + 5) in (0.0, 1.0)  # steps after the end, of a resumed training


def test_gradients_are_clipped_and_forgotten_after_the_step():
    for limit, moved in ((0.0, 0.5 * 100), (1.0, 0.5 * 1)):
        schedule = optimization(warmup=0.0, scheduler="constant", max_grad_norm=limit)
        weight, bias = schedule.parameters
        before = weight.detach().clone()
        weight.grad, bias.grad = torch.tensor([[60.0, 80.0]]), torch.zeros(1)
        schedule.step(0)
        assert float((weight - before).detach().norm()) == pytest.approx(moved, rel=1e-4)
        assert weight.grad is None
        assert schedule.rate == 0.5


def test_the_weight_decay_spares_biases_and_norms_and_frozen_weights_are_left_alone():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.LayerNorm(3), torch.nn.Linear(3, 1))
    model[0].requires_grad_(False)
    asked = SimpleNamespace(warmup_ratio=0.1, scheduler="linear", optimizer="adamw", weight_decay=0.3)
    groups = Optimization(model, asked, 0.1, 10, None).optimizer.param_groups
    assert [(g["weight_decay"], [tuple(p.shape) for p in g["params"]]) for g in groups] == [(0.3, [(1, 3)]), (0.0, [(3,), (3,), (1,)])]


@pytest.mark.parametrize(
    ("fresh", "size", "rate"),
    [(True, 10**9, 1e-3), (False, 10**7, 3e-4), (False, 10**7 + 1, 2e-4), (False, 4 * 10**7, 2e-4), (False, 110_000_000, 5e-5), (False, 10**9, 2e-5)],
)
def test_a_larger_model_gets_a_smaller_learning_rate_and_a_reason(fresh, size, rate):
    found, why = learning_rate(fresh, size)
    assert found == rate
    assert why.startswith(f"The learning rate is {rate:g}, which suits a ")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 s"),
        (0.4, "1 s"),
        (45.2, "45 s"),
        (59, "59 s"),
        (60, "1 min"),
        (61, "1 min"),
        (59.7, "1 min"),
        (3540, "59 min"),
        (3590, "1 h"),
        (3600, "1 h"),
        (7800, "2 h 10 min"),
    ],
)
def test_a_duration_is_spelled_in_two_units_at_most(seconds, words):
    assert estimate.spelled(seconds) == words


@QUICK
@given(st.floats(0, 1e7))
def test_a_duration_never_has_sixty_seconds_or_sixty_minutes(seconds):
    words = estimate.spelled(seconds)
    assert "60 s" not in words
    assert "60 min" not in words


def test_the_loss_of_classes_is_the_weighted_cross_entropy():
    target = Classes(("a", "b"))
    objective = Objective(target, weights=(1.0, 3.0))
    logits = torch.log(torch.tensor([[0.8, 0.2], [0.5, 0.5], [0.25, 0.75]]))
    loss = float(objective.loss(logits, numpy.asarray([0, 1, 1])))
    assert loss == pytest.approx(-math.log(0.8) - 3 * math.log(0.5) - 3 * math.log(0.75), rel=1e-5)
    assert objective.weight(numpy.asarray([0, 1, 1])) == 7.0
    assert target.read(logits, None, folded=False) == pytest.approx(numpy.asarray([[0.8, 0.2], [0.5, 0.5], [0.25, 0.75]]), rel=1e-5)


def test_the_loss_of_a_number_is_in_units_of_its_deviation():
    target = Number(100.0, 10.0)
    objective = Objective(target)
    logits = torch.tensor([[0.0], [1.0], [-2.0]])
    assert float(objective.loss(logits, numpy.asarray([100.0, 120.0, 80.0]))) == pytest.approx(0 + 1 + 0)
    assert objective.weight(numpy.zeros(3)) == 3.0
    assert target.read(logits, None, folded=False).tolist() == [100.0, 110.0, 80.0]
    assert target.read(logits, None, folded=True).tolist() == [0.0, 1.0, -2.0]
