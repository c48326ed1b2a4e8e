"""Why a model gives an answer: by how much the answer falls without each part of the row that was asked about."""

import time
from collections.abc import Callable
from typing import Any

import numpy

from trainer.answer.rows import Form, Refused
from trainer.core.example import Example
from trainer.targets.explained import Explained

PART, RAISED, BOX = "why.part", "why.raised", "why.box"  # the names of the tensors
_SECONDS = 3.0
_MOST, _FEWEST = 64, 4  # parts


def tensors(form: Form, target: Any, examples: list[Example], outputs: Callable[[list[Example]], numpy.ndarray]) -> list[dict]:
    """The parts of the one example, and by how much each raises the answer: tensors, whose parameter ``answer`` is what is raised. Where answers take
    long, there are fewer parts. Raises Refused for several rows, and for models that do not say why."""
    if len(examples) != 1:
        raise Refused("Why is answered for one row at a time.")
    if not isinstance(target, Explained):
        raise Refused("Models of this kind do not say why.")
    began = time.monotonic()
    outputs(examples)
    most = int(min(_MOST, max(_FEWEST, _SECONDS / max(1e-6, time.monotonic() - began))))
    whole, parts = form.kind.without_parts(examples[0], [c.name for c in form.columns], most)
    if not parts:
        raise Refused("Models of this kind do not say why.")
    found = outputs([whole, *(less.example for less in parts)])
    answer, raised = target.raised(found[0], found[1:])
    of = {"shape": [len(parts)], "parameters": {"answer": answer}}
    boxes = [{"name": BOX, "datatype": "FP64", "shape": [len(parts), 4], "data": [side for less in parts for side in less.box]}]
    return [
        {"name": PART, "datatype": "BYTES", **of, "data": [less.name for less in parts]},
        {"name": RAISED, "datatype": "FP64", **of, "data": [float(value) for value in raised]},
        *(boxes if all(less.box for less in parts) else []),
    ]
