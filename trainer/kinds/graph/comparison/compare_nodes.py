"""The simple models of nodes beside the network, and their combination with it."""

from dataclasses import replace

import numpy

from trainer.kinds.graph.comparison import fusion, node_scores, nodes as simple
from trainer.kinds.graph.comparison.compare import COMBINATION, FEWEST, FUSION, HEURISTIC, ComparedModel, timed
from trainer.kinds.graph.comparison.fusion import MODEL, Columns, Fusion
from trainer.kinds.graph.comparison.node_scores import LINEAR, MAJORITY, PROPAGATION, SPREAD, TITLES, NodeScores
from trainer.kinds.graph.comparison.nodes import Spread
from trainer.measure.dummy import dummy
from trainer.measure.predictions import MAX_CLASSES, Predictions
from trainer.targets.classes import Classes
from trainer.targets.target import Target
from trainer.training import candidates

_SPLITS = ("train", "validation", "test")
_PARTS = 10  # of the validation nodes, each of which is scored by weights from the others


def of_nodes(
    store,
    numbers: dict[str, numpy.ndarray],
    truth: dict[str, numpy.ndarray],
    target: Target,
    network: ComparedModel | None,
    seed: int,
    columns: numpy.ndarray | None = None,
) -> list[ComparedModel]:
    """The simple models, fitted on the training nodes. ``store`` has indptr, indices and x; ``numbers`` and ``truth`` are the nodes of each
    split and their classes or numbers. The linear models are also fitted on features that are multiplied by ``columns``; what is better on the
    validation nodes counts. The first are the combinations, if there are enough validation nodes to learn their weights."""
    classes = target.outputs if isinstance(target, Classes) else 0
    found = [
        *_linear(store, numbers, truth, target, classes, seed, columns),
        _propagation(store, numbers, truth, target, classes),
        _constant(truth, classes),
    ]
    if not isinstance(target, Classes) or len(truth["validation"]) < FEWEST or classes > MAX_CLASSES:
        return found
    parts = [r for r in found if r.simple is not None]
    if network is not None and all(a.probabilities is not None for a in network.answers.values()):
        parts = [network, *parts]
    return [_fused(parts, truth, target, seed), *found] if len(parts) > 1 else found


def _linear(store, numbers: dict, truth: dict, target: Target, classes: int, seed: int, columns: numpy.ndarray | None) -> list[ComparedModel]:
    if store.x is None or not simple.affordable(store.nodes, store.x.shape[1]):
        return []
    found = []
    for name, steps in ((SPREAD, simple.STEPS), (LINEAR, 0)):

        def fitted(steps: int = steps) -> tuple[Spread, dict] | None:
            return _fitted(store, steps, numbers, truth, classes, seed, columns)

        best, seconds, cpu = timed(fitted)
        if best is not None:
            model, outputs = best
            scores = NodeScores(Fusion((name,), (1.0,)), classes, {name: model})
            answers = {n: simple.answers(target, o, truth[n]) for n, o in outputs.items()}
            found.append(ComparedModel(name, TITLES[name], candidates.ESTIMATOR, answers, scores, model.parameters, seconds, cpu))
    return found


def _fitted(
    store, steps: int, numbers: dict, truth: dict, classes: int, seed: int, columns: numpy.ndarray | None
) -> tuple[Spread, dict[str, numpy.ndarray]] | None:
    """The linear model that is best on the validation nodes, and its outputs for the nodes of each split."""
    best, most = None, (-numpy.inf, -numpy.inf)
    for tried in (None,) if columns is None else (None, columns):
        features = simple.scaled(store.x, tried)
        features = simple.spread(store.indptr, store.indices, features, steps) if steps else features
        fitted = simple.fit(features, steps, numbers, truth, classes, seed)
        if fitted is not None and (best is None or fitted[1] > most):
            model, most = replace(fitted[0], columns=tried), fitted[1]
            best = model, {n: model.of(features[numbers[n]]) for n in _SPLITS}
    return best


def _propagation(store, numbers: dict, truth: dict, target: Target, classes: int) -> ComparedModel:
    def spread() -> numpy.ndarray:
        return simple.propagate(store.indptr, store.indices, numbers["train"], truth["train"], target)

    known, seconds, cpu = timed(spread)
    outputs = {n: known[numbers[n]] if classes else known[numbers[n], 0] for n in _SPLITS}
    answers = {n: simple.answers(target, o, truth[n]) for n, o in outputs.items()}
    scores = NodeScores(Fusion((PROPAGATION,), (1.0,)), classes, propagated=known)
    return ComparedModel(PROPAGATION, TITLES[PROPAGATION], HEURISTIC, answers, scores, 0, seconds, cpu)


def _constant(truth: dict, classes: int) -> ComparedModel:
    title = "most frequent class" if classes else "mean of the training nodes"
    return ComparedModel(MAJORITY, title, HEURISTIC, {n: dummy(truth["train"], truth[n], classes) for n in _SPLITS})


def _fused(parts: list[ComparedModel], truth: dict, target: Classes, seed: int) -> ComparedModel:
    """The weighted product of the probabilities of ``parts``, with weights from the validation nodes. The answers for a validation node are by
    weights that did not see it."""
    names = tuple(MODEL if r.simple is None else r.name for r in parts)

    def columns(split: str) -> tuple[Columns, list[numpy.ndarray]]:
        every = [r.answers[split].probabilities.astype(numpy.float64) for r in parts]
        return node_scores.columns(dict(zip(names, every, strict=True)), truth[split]), every

    def weighed() -> tuple[Fusion, dict[str, Predictions]]:
        known, every = columns("validation")
        whole = fusion.fit(known, names, seed)
        answers = {n: target.answers(node_scores.joined(whole, columns(n)[1]).astype(numpy.float32), truth[n]) for n in ("train", "test")}
        rows = numpy.arange(len(truth["validation"]))
        held = numpy.zeros((len(rows), target.outputs), numpy.float32)
        part = numpy.random.default_rng(seed).permutation(len(rows)) % _PARTS
        for number in range(_PARTS):
            mine, others = rows[part == number], rows[part != number]
            held[mine] = node_scores.joined(fusion.fit(known.rows(others), names, seed), [p[mine] for p in every])
        return whole, {**answers, "validation": target.answers(held, truth["validation"])}

    (whole, answers), seconds, cpu = timed(weighed)
    linear = {n: m for r in parts if r.simple is not None for n, m in r.simple.linear.items()}
    spread = next((r.simple.propagated for r in parts if r.name == PROPAGATION), None)
    scores = NodeScores(whole, target.outputs, linear, spread)
    title = "the network and the simple models, weighed" if MODEL in names else "the simple models, weighed"
    return ComparedModel(FUSION, title, COMBINATION if MODEL in names else candidates.ESTIMATOR, answers, scores, scores.parameters, seconds, cpu)
