"""The description beside the weights of a model: trainer.json."""

from pathlib import Path
from typing import TYPE_CHECKING

from trainer.core import registry
from trainer.core.example import Dataset
from trainer.core.kind import Kind
from trainer.models import saved_model
from trainer.targets.explained import Explained

_CATEGORIES = 1000  # of a field: one with more has no list
_NO_NETWORK = "This version has no model.onnx, so it answers for datasets only."

if TYPE_CHECKING:
    from trainer.training.prepare import Prepared


def describe(prepared: "Prepared", data: Dataset, test: dict) -> dict:
    """The content of trainer.json but for ``use``. ``test`` holds the scores on the test rows."""
    plan = prepared.plan
    return {
        "schema": saved_model.SCHEMA,
        "run": plan.run,
        "task": plan.task,
        "kind": plan.kind.name,
        "base": plan.base.name,
        "target": plan.target.described(),
        "encoder": prepared.encoder.described()["encoder"],
        "columns": list(data.columns),
        "types": data.types,
        "styles": {name: style.described() for name, style in data.styles.items()},
        "label_column": data.label_column,
        "test": test,
        **({"kept_by": data.kept_by} if data.kept_by else {}),
    }


def use(prepared: "Prepared", description: dict, folder: Path) -> dict:
    """``use`` of trainer.json: how to load the model in ``folder``, and the fields of a single answer, or why it gives none. ``unexplained`` answers
    do not say why."""
    plan = prepared.plan
    kind, estimator = plan.kind, plan.base.name in registry.estimators()
    named = {"snippet": kind.snippet(plan.base.name, plan.task, folder)}
    columns = kind.inputs(description, folder)
    if columns is None:
        return {**named, "why": kind.why_no_single_answers}
    if not estimator and not (folder / "model.onnx").is_file():
        return {**named, "why": _NO_NETWORK}
    fields = [
        {"name": c.name, "type": c.type, **({"categories": list(c.categories)} if 0 < len(c.categories) <= _CATEGORIES else {})} for c in columns
    ]
    explains = isinstance(plan.target, Explained) and type(kind).without_parts is not Kind.without_parts
    return {**named, "fields": fields, **({} if explains else {"unexplained": True})}
