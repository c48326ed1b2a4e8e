"""A training's parts on models of a few weights: gradients, too little memory, what is the best, outputs of pieces, and frozen models."""

from types import SimpleNamespace

import numpy
import pytest
import torch
from conftest import events_of

from trainer.core import registry
from trainer.core.plan import Rows
from trainer.errors import UserError
from trainer.kinds.tokens.target import NO_WORD, WordPlaces
from trainer.measure.metric import CLASSIFICATION, Metric, table as metrics
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events
from trainer.targets.classes import Classes
from trainer.targets.number import Number
from trainer.train import checkpoint, evaluate, frozen, loop
from trainer.train.objective import Objective
from trainer.train.position import Position
from trainer.train.progress import Meter
from trainer.train.step import MAX_HALVINGS, Stepper

CPU = torch.device("cpu")
CONTEXT = SimpleNamespace(rank=0, world=1, device=CPU, leaving=lambda: False)
NUMBER = Number(0.0, 1.0)


class Columns:
    """Features of which a row is a list of numbers. ``batches`` are the rows that were asked for."""

    def __init__(self, values):
        self.values, self.batches = numpy.asarray(values, numpy.float32), []

    @property
    def lengths(self):
        return numpy.arange(len(self.values))[::-1]  # the last row comes first

    def batch(self, rows, augment=None):
        self.batches.append(rows.tolist())
        return {"values": self.values[rows]}


class Network(torch.nn.Module):
    """A linear layer with made-up weights. It has memory for ``most`` rows."""

    def __init__(self, inputs: int = 2, outputs: int = 1, most: int = 10**6):
        super().__init__()
        self.head = torch.nn.Linear(inputs, outputs)
        self.most = most
        with torch.no_grad():
            self.head.weight.copy_(torch.arange(inputs * outputs).reshape(outputs, inputs) / 4.0)
            self.head.bias.fill_(0.5)

    def forward(self, values):
        if len(values) > self.most:
            raise torch.OutOfMemoryError("too many rows")
        return SimpleNamespace(logits=self.head(values))


def table(count: int, owner=None, columns: int = 2) -> Rows:
    values = numpy.arange(count * columns).reshape(count, columns) / 10
    return Rows(Columns(values), numpy.arange(count, dtype=numpy.float64), owner)


def stepper(model: Network, accumulation: int = 1, target=NUMBER) -> Stepper:
    settings = SimpleNamespace(gradient_accumulation=accumulation, mixed_precision="fp32", compile="no", seed=1)
    plan = SimpleNamespace(settings=settings, kind=registry.of("table"), base=Base("mlp", "table"))
    return Stepper(CONTEXT, plan, model, Objective(target))


def gradients(made: Stepper, data: Rows) -> list[list[float]]:
    made.step(data, numpy.arange(len(data)), 0)
    return [p.grad.flatten().tolist() for p in made.model.parameters()]


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 100])
def test_the_gradients_of_a_batch_do_not_depend_on_its_parts(parts):
    data = table(7)
    model = Network()
    found = gradients(stepper(model, parts), data)
    assert len(data.features.batches) == min(parts, 7)
    errors = model(torch.from_numpy(data.features.values)).logits[:, 0] - torch.arange(7)
    wanted = (2 * errors[:, None] * torch.from_numpy(data.features.values)).mean(0)
    assert found[0] == pytest.approx(wanted.tolist(), rel=1e-5)
    assert found[1] == pytest.approx([2 * errors.mean().item()], rel=1e-5)


@pytest.mark.parametrize(("most", "parts"), [(8, 1), (7, 2), (4, 2), (3, 4), (1, 8)])
def test_a_batch_that_is_too_large_for_the_memory_is_halved_until_it_fits(most, parts):
    data = table(8)
    small, large = stepper(Network(most=most)), stepper(Network())
    assert gradients(small, data)[0] == pytest.approx(gradients(large, data)[0], rel=1e-5)
    assert (small.accumulation, large.accumulation) == (parts, 1)
    assert small.mean_loss(Position(rows=8)) == pytest.approx(large.mean_loss(Position(rows=8)))


@pytest.mark.parametrize(("rows", "parts"), [(3, 4), (64, 2**MAX_HALVINGS)], ids=["few rows", "many rows"])
def test_a_row_that_is_too_large_for_the_memory_is_an_error(rows, parts):
    made = stepper(Network(most=0))
    with pytest.raises(torch.OutOfMemoryError):
        made.step(table(rows), numpy.arange(rows), 0)
    assert made.accumulation == parts


def test_several_workers_do_not_halve_a_batch_by_themselves():
    made = stepper(Network())
    made.ctx = SimpleNamespace(**{**vars(CONTEXT), "world": 2})
    with pytest.raises(torch.OutOfMemoryError):
        made._halve(numpy.arange(8), torch.OutOfMemoryError("too many rows"))
    assert made.accumulation == 1


def test_the_mean_loss_counts_all_rows_since_the_last_evaluation_and_before_a_restart():
    made, data = stepper(Network()), table(6)
    losses = [made.step(data, numpy.array(rows), step).item() for step, rows in enumerate([[0, 1], [2, 3, 4, 5]])]
    wanted = (2 * losses[0] + 4 * losses[1]) / 6
    position = Position(rows=6)
    assert made.mean_loss(position) == pytest.approx(wanted)
    assert (position.rows, made.total()) == (0, 0)
    made.restore(Position(total=5.0))
    made.step(data, numpy.array([0, 1]), 2)
    assert made.mean_loss(Position(rows=4)) == pytest.approx((5 + 2 * losses[0]) / 4)
    assert made.mean_loss(Position()) == 0


def test_a_rehearsal_leaves_the_loss_alone():
    made, data = stepper(Network()), table(4)
    made.rehearse(Network(), data, numpy.arange(4))
    assert made.total() == 0 and all(p.grad is None for p in made.model.parameters())


def test_the_meter_gives_the_mean_since_the_last_call():
    meter = Meter(CPU)
    assert meter.mean() is None
    for loss in (1.0, 2.0, 6.0):
        meter.add(torch.tensor(loss))
    assert (meter.mean(), meter.mean()) == (3.0, None)


@pytest.mark.parametrize("world", [1, 3])
def test_outputs_are_in_the_order_of_the_rows_with_the_mean_over_pieces(world, monkeypatch):
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda tensor: None)
    owner = numpy.array([0, 0, 1, 2, 2, 2])
    data, model, done = table(6, owner), Network(), []
    parts = [evaluate.outputs(model, data, NUMBER, CPU, rank, world, folded=True, on_progress=done.append) for rank in range(world)]
    every = model(torch.from_numpy(data.features.values)).logits[:, 0].detach().numpy()
    wanted = [every[:2].mean(), every[2], every[3:].mean()]
    assert sum(parts) == pytest.approx(numpy.array(wanted), rel=1e-5)
    assert sorted(row for batch in data.features.batches for row in batch) == list(range(6))
    assert done == [6 // world] * world and not model.training


def test_outputs_of_classes_are_probabilities_and_of_no_rows_there_are_none():
    classes, model = Classes(("a", "b", "c")), Network(outputs=3)
    found = evaluate.outputs(model, table(5), classes, CPU)
    assert found.shape == (5, 3) and found.sum(axis=1) == pytest.approx(1)
    assert evaluate.outputs(model, table(0), classes, CPU).shape == (0, 3)
    assert evaluate.outputs(model, table(0), NUMBER, CPU).shape == (0,)


def test_a_model_with_other_outputs_than_described_is_refused():
    evaluate.check(Network(outputs=3), table(2), Classes(("a", "b", "c")))
    evaluate.check(Network(outputs=3), table(0), Classes(("a", "b")))
    with pytest.raises(ValueError, match="its weights have 3 outputs, but its description names 2"):
        evaluate.check(Network(outputs=3), table(2), Classes(("a", "b")))


def test_words_are_counted_over_all_rows_and_found_in_wider_and_narrower_outputs():
    places = WordPlaces(numpy.array([[NO_WORD, 0, -1, NO_WORD], [1, NO_WORD, NO_WORD, NO_WORD], [NO_WORD] * 4]))
    assert places.count == 3
    assert places.of(numpy.array([1, 0])).tolist() == [2, 0, 1]
    for width in (3, 4, 6):
        outputs = numpy.arange(2 * width).reshape(2, width)
        assert places.chosen(numpy.array([0, 1]), outputs).tolist() == [1, 2, width]


TRIED = [
    ("image", False, {}, True),
    ("image", True, {}, False),
    ("image", False, {"fresh": True}, False),
    ("image", False, {"freeze_encoder": True}, False),
    ("text", True, {}, True),
    ("text", False, {}, False),
    ("text", True, {"source": "form"}, False),
    ("text", True, {"target": NUMBER}, False),
    ("text", True, {"fresh": True}, False),
    ("table", True, {}, False),
]


def plan(kind: str, fresh: bool = False, freeze_encoder: bool = False, source: str = "chosen", target=None, epochs: int = 4) -> SimpleNamespace:
    settings = SimpleNamespace(freeze_encoder=freeze_encoder, source=lambda name: source, epochs=epochs, seed=1)
    task = f"{kind}-{'classification' if target is None else 'regression'}"
    found = registry.of(kind)
    return SimpleNamespace(kind=found, task=task, base=Base("org/base", kind, fresh=fresh), settings=settings, target=target or Classes(("a", "b")))


@pytest.mark.parametrize(("kind", "cut", "more", "tried"), TRIED)
def test_an_installed_model_is_tried_as_it_is_where_that_often_wins(kind, cut, more, tried):
    assert frozen.is_tried(plan(kind, **more), cut) is tried


@pytest.mark.parametrize(
    ("kind", "estimate", "left", "world", "kept"),
    [
        ("text", 100.0, 100.0, 1, 0.0),  # it fits
        ("text", 120.0, 100.0, 1, 10.0),  # a third of an epoch
        ("text", 120.0, 100.0, 3, 30.0),
        ("text", 1e6, 100.0, 1, 50.0),  # at most half of the time
        ("image", 1e6, 100.0, 1, 0.0),
    ],
)
def test_time_is_kept_to_try_a_model_as_it_is_where_its_training_will_be_cut(kind, estimate, left, world, kept):
    assert frozen.reserved(plan(kind), estimate, left, world) == pytest.approx(kept)


def test_the_features_of_a_head_are_in_the_order_of_the_rows():
    model, data = Network(), table(5)
    head = frozen._head(model, 1)
    assert head is model.head and frozen._head(model, 9) is None
    assert (frozen._features(model, head, data, CPU) == data.features.values).all()
    assert frozen._features(model, head, table(0), CPU).shape == (0, 2)
    assert not head._forward_pre_hooks


def test_a_head_that_reads_more_than_one_vector_of_a_row_is_not_replaced():
    class Sequences(Network):
        def forward(self, values):
            return SimpleNamespace(logits=self.head(values[:, None, :].repeat(1, 3, 1)).mean(1))

    model = Sequences()
    assert frozen._features(model, model.head, table(4), CPU) is None


@pytest.mark.parametrize(("kind", "linear"), [(Network, True), (None, False)], ids=["a linear head", "another head beside it"])
def test_a_frozen_model_counts_only_where_its_scores_are_those_of_the_head(kind, linear):
    class Averaged(Network):
        def forward(self, values):
            return SimpleNamespace(logits=(self.head(values) + 1) / 2)

    model, data = (kind or Averaged)(), table(4)
    fitted = SimpleNamespace(weights=model.head.weight.detach().numpy().T, bias=model.head.bias.detach().numpy())
    assert frozen._is_linear_on(model, data, data.features.values, fitted, CPU) is linear


def training(metric: str = "accuracy", **more) -> loop.Training:
    """A training that is not set up, for its decisions."""
    made = loop.Training.__new__(loop.Training)
    made.at, made.per_epoch, made.steps, made.end, made.rate, made.stops = Position(), 10, 40, 40, 0.001, [5, 10]
    target = Classes(("a", "b")) if metric in CLASSIFICATION else NUMBER
    made.plan, made.settings = SimpleNamespace(metric=metric, target=target), SimpleNamespace(early_stopping_patience=2)
    vars(made).update(more)
    return made


@pytest.mark.parametrize(
    ("metric", "values", "best"),
    [
        ("accuracy", [(0.5, 1.0), (0.7, 2.0), (0.6, 0.1)], 2),
        ("accuracy", [(0.5, 1.0), (0.5, 0.9), (0.5, 0.95)], 2),  # the same metric: the smaller loss
        ("accuracy", [(0.5, 1.0), (0.5, 1.0)], 1),  # the first of equals
        ("mae", [(3.0, 1.0), (2.0, 1.0), (2.5, 1.0)], 2),
        ("r2", [(-3.0, 1.0), (-2.0, 1.0)], 2),
    ],
)
def test_the_best_evaluation_has_the_best_metric_and_then_the_smallest_loss(metric, values, best):
    made = training(metric)
    for number, (value, loss) in enumerate(values, 1):
        made.at.step = 10 * number
        found = made._judge({metric: value, "loss": loss})
        assert found is (made.at.best_step == made.at.step)
    assert (made.at.best_step, made.at.best_epoch, made.at.best_value) == (10 * best, best, values[best - 1][0])
    assert (made.at.evaluations, made.at.since_best) == (len(values), len(values) - best)


PERFECT = SimpleNamespace(metrics=metrics(Metric("iou", "IoU", perfect=1.0), Metric("other", "other")))


@pytest.mark.parametrize(
    ("metric", "values", "reason"),
    [
        ("iou", [(1.0, 0.30), *[(1.0, 0.295 - 0.001 * i) for i in range(5)]], loop.EARLY),  # the loss still falls, without an effect
        ("iou", [(0.9996, 0.03)] * 6, loop.EARLY),  # shown as 1.000
        ("iou", [(0.9994, 0.03 - 0.001 * i) for i in range(6)], loop.ALL_DONE),
        ("iou", [(1.0, 0.30 - 0.02 * i) for i in range(6)], loop.ALL_DONE),
        ("iou", [(1.0, 0.30), *[(1.0, 0.299)] * 3, (0.9, 0.2), *[(1.0, 0.1 - 0.001 * i) for i in range(5)]], loop.ALL_DONE),
        ("other", [(1.0, 0.30 - 0.001 * i) for i in range(6)], loop.ALL_DONE),
    ],
)
def test_a_training_ends_where_its_score_cannot_become_better_and_the_loss_hardly_falls(metric, values, reason):
    made = training(plan=SimpleNamespace(metric=metric, target=PERFECT), settings=SimpleNamespace(early_stopping_patience=57))
    for number, (value, loss) in enumerate(values, 1):
        made.at.step = number
        made._judge({metric: value, "loss": loss})
    assert made.stop_reason() == reason
    made.settings.early_stopping_patience = 0
    assert made.stop_reason() == loop.ALL_DONE


def test_a_metric_that_cannot_be_computed_is_told_with_those_that_can():
    with pytest.raises(UserError, match="roc_auc cannot be computed on the validation rows") as refused:
        training("roc_auc")._judge({"accuracy": 0.5, "loss": 1.0})
    assert refused.value.code == "unmeasurable" and "accuracy and loss" in refused.value.why


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), -float("inf")])
def test_a_loss_that_is_no_number_names_the_epoch_and_the_learning_rate(loss):
    made = training()
    assert made._finite(1.5) == 1.5
    made.at.step = 11
    with pytest.raises(UserError, match="diverged in epoch 2") as refused:
        made._finite(loss)
    assert refused.value.code == loop.DIVERGED and refused.value.why == "The learning rate was 0.001."
    assert "smaller learning_rate" in refused.value.do


@pytest.mark.parametrize(
    ("step", "since_best", "end", "patience", "reason"),
    [
        (10, 1, 40, 2, loop.ALL_DONE),
        (10, 2, 40, 2, loop.EARLY),
        (10, 9, 40, 0, loop.ALL_DONE),
        (40, 2, 40, 2, loop.ALL_DONE),
        (20, 0, 20, 2, loop.AFTER),
        (19, 0, 20, 2, loop.ALL_DONE),
    ],
)
def test_a_training_ends_for_one_reason(step, since_best, end, patience, reason):
    made = training(at=Position(step=step, since_best=since_best), end=end, settings=SimpleNamespace(early_stopping_patience=patience))
    assert made.stop_reason() == reason


@pytest.mark.parametrize(
    ("step", "measured", "following"),
    [(0, 0, 5), (4, 0, 5), (5, 0, 5), (5, 5, 10), (10, 5, 10), (10, 10, 15), (37, 35, 40)],
)
def test_the_next_evaluation_is_made_also_where_the_training_was_ended_right_before_it(step, measured, following):
    assert training(at=Position(step=step, measured=measured))._next_evaluation() == following


@pytest.mark.parametrize(
    ("damaged", "foreign", "found", "told"),
    [
        ([], [], None, []),
        (["step-2"], [], "step-1", ["1 checkpoint (step-2) cannot be read; an earlier one is used."]),
        (["c", "b", "a"], [], None, ["3 checkpoints (c, b and a) cannot be read; the training starts from the beginning."]),
        ([], ["b"], None, ["1 checkpoint (b) cannot be used because the data or the settings have changed; the training starts from the beginning."]),
    ],
)
def test_checkpoints_that_cannot_be_used_are_told(tmp_path, damaged, foreign, found, told):
    def newest(lost: list, strange: list):
        lost += damaged
        strange += foreign
        return found

    events = Events(tmp_path / "events.jsonl", 1)
    made = training(checkpoints=SimpleNamespace(newest=newest), reporter=events)
    assert made._newest() == found
    assert [e["text"] for e in (events_of(tmp_path) if events.path.exists() else [])] == told


def test_a_checkpoint_has_each_shared_weight_once_and_no_frozen_ones():
    model = torch.nn.ModuleDict({"base": torch.nn.Linear(2, 2), "a": torch.nn.Linear(2, 2), "b": torch.nn.Linear(2, 2)})
    model["b"].weight = model["a"].weight
    model["base"].requires_grad_(False)
    fixed = checkpoint._frozen(model)
    assert fixed == {"base.weight", "base.bias"}
    assert sorted(checkpoint._weights(model, fixed)) == ["a.bias", "a.weight", "b.bias"]


def test_the_state_of_an_optimizer_is_split_into_tensors_and_plain_values():
    model = Network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for parameter in model.parameters():
        optimizer.state[parameter]["momentum_buffer"] = torch.ones_like(parameter)
    tensors, plain = checkpoint._optimizer_state(optimizer)
    assert {name: tensor.shape for name, tensor in tensors.items()} == {"0/momentum_buffer": (1, 2), "1/momentum_buffer": (1,)} and plain == {}
    optimizer.state[model.head.bias]["count"] = 7
    assert checkpoint._optimizer_state(optimizer)[1] == {"1": {"count": 7}}
