"""What is promised of single pixels: the limits by their definition, over pictures, and what they come to on new pictures."""

import json
from types import SimpleNamespace

import numpy
import pytest
import torch
from hypothesis import given, strategies as st

from trainer.core import registry
from trainer.export import tempered
from trainer.kinds.pixels import asking
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.sure import levels, looking, words
from trainer.kinds.pixels.target import PixelClasses
from trainer.kinds.pixels.windows import Windows
from trainer.measure.metric import LOSS
from trainer.targets.promise import Promise

LABELS = ("ground", "ice", "water")
SIDE = 16


def counted(misses: list[list[float]], pixels: int = 100) -> numpy.ndarray:
    """Counts of pictures whose shares of missed pixels, at the one level beside 0, are ``misses`` (pictures x groups; negative: none there)."""
    found = numpy.zeros((len(misses), len(misses[0]), levels.LEVELS + 1), numpy.uint32)
    for picture, shares in enumerate(misses):
        for group, share in enumerate(shares):
            if share >= 0:
                found[picture, group, 100] = round(share * pixels)
                found[picture, group, 0] = pixels - round(share * pixels)
    return found


@given(st.lists(st.integers(0, 100), min_size=1, max_size=60), st.sampled_from([0.5, 0.8, 0.9]))
def test_the_level_is_the_first_whose_risk_with_a_lost_picture_more_is_allowed(misses, coverage):
    found = levels.limits(counted([[m / 100] for m in misses]), coverage)
    if len(misses) < round(coverage / (1 - coverage)):
        assert found is None
        return
    allowed = (sum(misses) / 100 + 1) / (len(misses) + 1) <= 1 - coverage + 1e-9
    assert found.tolist() == [0 if allowed else 100]


def test_pictures_count_and_not_their_pixels():
    """Ten pictures of 50 missed pixels in 100, and a large one of none: by pixels nearly nothing is missed."""
    counts = counted([[0.5]] * 10)
    counts = numpy.concatenate([counts, counted([[0.0]], 1_000_000)])
    assert levels.limits(counts, 0.9).tolist() == [100]


@pytest.mark.parametrize(
    ("there", "expected"),
    [
        ((20, 20, 20), [0, 100, 0]),
        ((20, 20, 3), [0, 100, 100]),  # too few pictures of the last: the next fewest, which is often missed, joins it
        ((20, 3, 3), [0, 100, 0]),
        ((5, 3, 3), None),
    ],
)
def test_groups_of_few_pictures_join(there, expected):
    misses = [[0.0 if p < there[0] else -1, 0.5 if p < there[1] else -1, 0.0 if p < there[2] else -1] for p in range(max(there))]
    found = levels.limits(counted(misses), 0.9)
    if expected is None:
        assert found is None
    elif there[1] == 3:  # all three together: 3 of 20 pictures miss a share
        assert len(set(found.tolist())) == 1
    else:
        assert found.tolist() == expected


def test_what_is_promised_of_groups_with_one_limit_is_said_of_them_together():
    counts = counted([[0.0, 0.0 if p < 12 else -1, 0.0 if p < 3 else -1] for p in range(20)])
    made, _ = levels.made(counts, 0.9, levels.probabilities)
    assert made is not None and made.together == (1, 2)
    assert "each class, but of ice and water only together" in words.sentence(PixelClasses(LABELS, of_pixels=made))
    alone, _ = levels.made(counted([[0.0] * 3] * 20), 0.9, levels.probabilities)
    assert alone is not None and words.sentence(PixelClasses(LABELS, of_pixels=alone)).endswith("for 90 % of the pixels of each class.")


def test_levels_and_limits_are_the_same_rule():
    chance = numpy.random.default_rng(0)
    odds = chance.dirichlet((0.3, 0.3, 0.3), 5000).astype(numpy.float32)
    answered, truth = odds.argmax(axis=1), chance.integers(3, size=5000)
    counts = levels.of_classes(odds, answered, truth, 3)
    found = numpy.asarray([0, 90, levels.LEVELS])
    limits = levels.probabilities(found)
    assert [levels.level_of_probability(v) for v in json.loads(json.dumps(limits))] == found.tolist()
    target = PixelClasses(LABELS, of_pixels=Promise(0.9, 20, limits))
    inside = target.possible(odds, answered)[numpy.arange(5000), truth]
    for group in range(3):
        assert counts[group, : found[group] + 1].sum() == inside[truth == group].sum()
    assert inside[answered == truth].all() and inside[truth == 2].all()
    said, right = chance.normal(4, 2, 5000).astype(numpy.float32), chance.normal(4, 2, 5000)
    counts = levels.of_numbers(said, right, 4.0, 2.0)
    places = numpy.asarray([120, 130, 140, 150, 160])
    half = levels.errors(places, 2.0)
    assert [levels.level_of_error(v, 2.0) for v in json.loads(json.dumps(half))] == places.tolist()
    low, high = PixelNumbers(4.0, 2.0, of_pixels=Promise(0.9, 20, half)).around(said)
    inside, group = (low <= right) & (right <= high), levels.ranges(said, 4.0, 2.0)
    assert abs(sum(counts[g, : places[g] + 1].sum() for g in range(5)) - inside.sum()) <= 2, "ends are rounded to 32 bits"
    assert len(set(group.tolist())) == 5


def test_numbers_that_are_far_off_have_no_promise():
    made, why = levels.made(numpy.stack([levels.of_numbers(numpy.zeros(9), numpy.full(9, 1e9), 0.0, 1.0)] * 20), 0.9, lambda f: levels.errors(f, 1.0))
    assert made is None and "too far off" in why
    made, why = levels.made(counted([[0.0]] * 8), 0.9, levels.probabilities)
    assert made is None and why == "A promise of 90 % needs 9 held-out pictures or more, and there are 8."
    assert levels.made(numpy.zeros((0, 3, levels.LEVELS + 1), numpy.uint32), 0.9, levels.probabilities)[0] is None


@pytest.mark.parametrize(
    ("target", "limits", "strange"),
    [(PixelClasses(LABELS), (0.1, 0.2, 0.0), 1.1), (PixelNumbers(1.0, 2.0), (0.1, 0.2, 0.3, 0.4, 0.5), float("inf"))],
)
def test_it_is_saved_and_a_strange_one_is_refused(target, limits, strange):
    from dataclasses import replace

    told = replace(target, of_pixels=Promise(0.9, 20, limits, (1, 2)))
    described = json.loads(json.dumps(told.described()))
    assert registry.restored(described) == told and registry.restored(target.described()) == target
    for wrong in ([*limits[1:]], [*limits[1:], strange], [*limits[1:], None], "0.1"):
        with pytest.raises((TypeError, ValueError)):
            registry.restored({**described, "pixel_promise": {**described["pixel_promise"], "limits": wrong}})
    if isinstance(target, PixelClasses):
        for wrong in (0, float("nan"), 21, "1"):
            with pytest.raises((TypeError, ValueError)):
                registry.restored({**described, "temperature": wrong})


class Reading(torch.nn.Module):
    """Answers with what the bands of a picture hold, as scores that are ``too_sure`` times too large, or as a number."""

    step, multiple = 1, 16

    def __init__(self, outputs: int, too_sure: float = 1.0):
        super().__init__()
        self.outputs, self.too_sure = outputs, too_sure

    def forward(self, pixel_values):
        return SimpleNamespace(logits=pixel_values[:, : self.outputs].permute(0, 2, 3, 1) * self.too_sure)


def pictures(tmp_path, name: str, number: int, classes: int, seed: int) -> SimpleNamespace:
    """Pictures whose bands are the scores of their classes, or nearly their numbers: all pixels of a picture are off by the same."""
    chance = numpy.random.default_rng(seed)
    scores = chance.normal(0, 0.9, (number, SIDE, SIDE, max(1, classes))).clip(-1.9, 1.9)
    values = numpy.rint(127.5 + 63.75 * scores).astype(numpy.uint8)
    values.tofile(tmp_path / f"{name}.pixels")
    read = (values.astype(numpy.float64) - 127.5) / 63.75
    if classes:
        odds = numpy.exp(read) / numpy.exp(read).sum(axis=-1, keepdims=True)
        truth = (odds.cumsum(axis=-1) < chance.random((number, SIDE, SIDE, 1))).sum(axis=-1).astype(numpy.uint8)
    else:
        truth = (read[..., 0] + chance.normal(0, 0.3, (number, 1, 1))).astype(numpy.float32)
    truth.tofile(tmp_path / f"{name}.truth")
    sizes = numpy.full((number, 2), SIDE)
    files = str(tmp_path / f"{name}.pixels"), str(tmp_path / f"{name}.truth")
    data = Windows(*files, sizes, numpy.arange(number), max(1, classes), SIDE, 1, classes, (0.0, 1.0), "none", numpy.zeros(number, bool))
    return SimpleNamespace(features=data)


def measured(tmp_path, target, model, held: int = 40, test: int = 300):
    classes = len(target.labels)
    splits = {n: pictures(tmp_path, n, c, classes, s) for s, (n, c) in enumerate({"train": 3, "validation": held, "test": test}.items())}
    plan = SimpleNamespace(splits=splits, target=target, settings=SimpleNamespace(coverage=0.9, seed=1))
    return asking.measured(model, plan, torch.device("cpu"))


class Said:
    def __init__(self):
        self.warned, self.decisions = [], []

    def warning(self, *what):
        self.warned.append(what)

    def decision(self, *what):
        self.decisions.append(what)


def test_a_training_chooses_temperature_and_limits_that_new_pictures_keep(tmp_path):
    found = measured(tmp_path, PixelClasses(LABELS), Reading(3, 4.0))
    assert found.calibrated.temperature == found.target.temperature == pytest.approx(4.0, rel=0.1)
    test = found.answers["test"]
    after, before = found.target.summary(test)[LOSS.name], found.calibrated.before[LOSS.name]
    assert after < 0.9 * before and len(test.sure.possible) == 300 and 1 < test.sure.possible.mean() < 3
    (section,) = words.sections(found.target, test.sure, 1, said := Said())
    kept = [row[2] for row in section.blocks[-1].rows]
    assert all(0.88 < cell.value < 0.97 and cell.low < cell.value < cell.high for cell in kept) and not said.warned
    assert "90 % of the pixels of each class" in words.answers(found.target)[0].blocks[0].text[0]
    told = tempered.training(SimpleNamespace(calibrated=found.calibrated, answers=found.answers), found.target, said)
    assert "pictures" in said.decisions[0][2] and told[0].blocks[0].facts[0].value.endswith("40 held-out pictures")


def test_numbers_of_pixels_have_intervals_that_new_pictures_keep(tmp_path):
    found = measured(tmp_path, PixelNumbers(0.0, 1.0), Reading(1))
    (section,) = words.sections(found.target, found.answers["test"].sure, 1, said := Said())
    kept = [row[2].value for row in section.blocks[-1].rows]
    assert found.calibrated is None and len(kept) == 5 and all(0.87 < share < 0.97 for share in kept) and not said.warned
    assert all(0.45 < half < 0.75 for half in found.target.of_pixels.limits), "1.64 deviations of 0.3, and more because pictures are few"
    assert words.answers(found.target)[0].blocks[0].text[0].startswith("The answer for a pixel is off by ")


def test_few_pictures_promise_nothing_and_say_so(tmp_path):
    found = measured(tmp_path, PixelClasses(LABELS), Reading(3, 4.0), 4, 5)
    assert (found.target.of_pixels, found.target.temperature) == (None, 1.0) and "there are 4" in found.calibrated.why
    (section,) = words.sections(found.target, found.answers["test"].sure, 1, Said())
    assert section.blocks[0].text[0].endswith("needs 9 held-out pictures or more, and there are 4.")
    assert words.answers(found.target) == []


def test_a_broken_promise_is_warned_of(tmp_path):
    found = measured(tmp_path, PixelClasses(LABELS), Reading(3))
    counts = found.answers["test"].sure.counts.copy()
    counts[:, 1, levels.LEVELS] += counts[:, 1].sum(axis=1).astype(counts.dtype)
    words.sections(found.target, looking.Sure(counts, numpy.ones(3)), 1, said := Said())
    assert said.warned[0][0] == "coverage" and "ice: " in said.warned[0][1]
