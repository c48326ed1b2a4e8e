"""The description beside the weights of a model: trainer.json."""

from typing import TYPE_CHECKING

from trainer.core.example import Dataset

if TYPE_CHECKING:
    from trainer.training.prepare import Prepared


def describe(prepared: "Prepared", data: Dataset, test: dict) -> dict:
    """The content of trainer.json. ``test`` holds the scores on the test rows."""
    plan = prepared.plan
    return {
        "schema": 1,
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
    }
