"""The loss of rows beside the formulas of scikit-learn and of torch, and the weight that each row has."""

import numpy
import pytest
import torch
from sklearn.metrics import log_loss, mean_squared_error

from trainer.core.plan import IGNORED
from trainer.kinds.graph.target import Links
from trainer.kinds.language.target import Tokens
from trainer.kinds.tokens.target import NO_WORD, Tags
from trainer.targets.classes import Classes
from trainer.targets.number import Number
from trainer.train.objective import Objective

LOGITS = numpy.random.default_rng(5).normal(size=(40, 3)).astype(numpy.float32)
TRUTH = numpy.random.default_rng(6).integers(0, 3, 40)


def softmax(logits):
    odds = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 0.5), (0.0, 1.0, 1.0)])
def test_the_loss_of_classes_is_the_log_loss_of_scikit_learn(weights):
    target = Classes(("a", "b", "c"))
    objective = Objective(target, weights)
    of_rows = None if weights is None else numpy.asarray(weights)[TRUTH]
    wanted = log_loss(TRUTH, softmax(LOGITS.astype(numpy.float64)), sample_weight=of_rows, normalize=False, labels=[0, 1, 2])
    assert float(objective.loss(torch.from_numpy(LOGITS), TRUTH)) == pytest.approx(wanted, rel=1e-5)
    assert objective.weight(TRUTH) == pytest.approx(40.0 if weights is None else of_rows.sum())
    assert (target.outputs, target.width, target.adds_pieces, target.evaluation_rows) == (3, 3, False, 128)


def test_smoothing_moves_a_share_of_each_row_to_all_classes():
    plain, smooth = Objective(Classes(("a", "b", "c"))), Objective(Classes(("a", "b", "c")), smoothing=0.3)
    logits = torch.from_numpy(LOGITS)
    uniform = -torch.log_softmax(logits, 1).mean(1).sum()
    assert float(smooth.loss(logits, TRUTH)) == pytest.approx(float(0.7 * plain.loss(logits, TRUTH) + 0.3 * uniform), rel=1e-5)


@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (100.0, 20.0), (-5.0, 0.1)])
def test_the_loss_of_numbers_is_the_squared_error_in_units_of_their_deviation(mean, std):
    target = Number(mean, std)
    objective = Objective(target)
    wanted = numpy.random.default_rng(7).normal(mean, std, 40)
    logits = torch.from_numpy(LOGITS[:, :1])
    said = LOGITS[:, 0] * std + mean
    assert float(objective.loss(logits, wanted)) == pytest.approx(40 * mean_squared_error(wanted, said) / std**2, rel=1e-3)
    assert target.read(logits, None, folded=False) == pytest.approx(said, rel=1e-5)
    assert (target.outputs, target.width, objective.weight(wanted)) == (1, 0, 40.0)


def test_places_without_a_word_and_unknown_tags_cost_nothing():
    objective = Objective(Tags(("O", "B", "C")))
    logits = torch.from_numpy(LOGITS[:6].reshape(2, 3, 3))
    targets = numpy.asarray([[0, NO_WORD, 2, NO_WORD], [-1, 1, NO_WORD, NO_WORD]])
    places = [(0, 0, 0), (0, 2, 2), (1, 1, 1)]
    wanted = -sum(float(torch.log_softmax(logits[r, p], 0)[t]) for r, p, t in places)
    assert float(objective.loss(logits, targets)) == pytest.approx(wanted, rel=1e-5)
    assert objective.weight(targets) == 3.0
    assert objective.weight(numpy.full((2, 2), -1)) == 1.0  # never a division by zero


def test_the_tokens_of_a_text_are_counted_and_the_others_ignored():
    target = Tokens()
    objective = Objective(target)
    logits = torch.from_numpy(LOGITS[:6].reshape(2, 3, 3))
    tokens = torch.tensor([[0, IGNORED, 2], [IGNORED, IGNORED, IGNORED]])
    wanted = -float(torch.log_softmax(logits[0, 0], 0)[0] + torch.log_softmax(logits[0, 2], 0)[2])
    counts = target.read(logits, tokens, folded=False)
    right = sum(int(logits[0, p].argmax()) == t for p, t in ((0, 0), (2, 2)))
    assert counts == pytest.approx(numpy.asarray([[wanted, 2, right], [0, 0, 0]]), rel=1e-5)
    assert float(objective.loss(logits, tokens)) == pytest.approx(wanted, rel=1e-5)
    assert objective.weight(numpy.asarray([[5, 20], [7, 30]])) == 12.0
    assert (target.width, target.adds_pieces, target.evaluation_rows) == (3, True, 8)


def test_an_edge_is_told_from_what_was_drawn_beside_it():
    objective = Objective(Links())
    scores = torch.from_numpy(LOGITS.reshape(20, 2, 3))
    wanted = -torch.log_softmax(scores, 2)[:, :, 0].sum() / 2
    assert float(objective.loss(scores, numpy.zeros(20, numpy.int8))) == pytest.approx(float(wanted), rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_losses_and_outputs_are_computed_in_single_precision(dtype):
    logits = torch.from_numpy(LOGITS).to(dtype)
    target = Classes(("a", "b", "c"))
    assert Objective(target).loss(logits, TRUTH).dtype == torch.float32
    assert target.read(logits, None, folded=True).dtype == numpy.float32
    assert target.read(logits, None, folded=True).sum(axis=1) == pytest.approx(numpy.ones(40), abs=1e-5)
