"""Graphs: the prediction of edges, and of classes or numbers of nodes, by GraphSAGE with drawn neighbourhoods."""

from pathlib import Path
from typing import Any

import numpy as np

from trainer.core.plan import Plan, Rows
from trainer.kinds.graph.target import Links
from trainer.targets.target import Target
from trainer.targets.temperature import Measured

TABLE = "table.npy"  # beside the folder of the model: the table of all nodes by the model


def build(plan: Plan):
    from trainer.kinds.graph.sage import Sage

    return Sage(**plan.shape["model"])


def load(folder: Path, like=None):
    from trainer.kinds.graph.sage import Sage

    return Sage.load(folder)


def save(model, plan: Plan, folder: Path) -> None:
    """Save weights and config.json. A saved regression model predicts in the unit of the data."""
    import torch

    if (rescaling := plan.target.rescaling()) is not None:
        factor, summand = rescaling
        with torch.no_grad():
            model.head.weight.mul_(factor)
            model.head.bias.mul_(factor).add_(summand)
    labels = {"labels": list(plan.target.labels)} if plan.target.labels else {}
    model.save(folder, {"task": plan.task, "fanout": plan.shape["fanout"], **labels})


def measured(model, plan: Plan, device, folder: Path) -> Measured:
    """The answers on all splits, from one table of all nodes, which is left as ``TABLE`` in ``folder``. They have no temperature: the weights of
    the combination with simple models have its place."""
    from trainer.kinds.graph import inference

    store = _features(plan.splits["train"]).store
    layers = inference.Layers(store.folder, 0, 1)
    table = inference.table(model, store, device, layers)
    np.save(folder / TABLE, table)
    found = {name: _answers(rows, table, model, device, plan.target) for name, rows in plan.splits.items()}
    layers.remove(table)
    return Measured(found)


def _answers(rows: Rows, table: np.ndarray, model, device, target: Target):
    if isinstance(target, Links):
        return target.answers(_features(rows).outputs(table), rows.targets)
    logits = _features(rows).outputs(table, model, device)
    return target.answers(target.read(logits, None, folded=True), rows.targets)


def _features(rows: Rows) -> Any:
    """The edges or the nodes of ``rows``, which are rows of a graph."""
    return rows.features
