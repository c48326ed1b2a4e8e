"""Label Studio: a list of tasks with ``data`` and the ``result`` of their annotations, or its short form with lists of regions."""

from typing import Any

from trainer.core.input import Input
from trainer.data.annotations.held import Annotations

_SHAPES = ("rectanglelabels", "polygonlabels", "brushlabels", "keypointlabels", "ellipselabels")
_CHOICES = "Its choices are one class for each picture: export them as CSV and name that column as label_column."


def find(source: Input, value: Any, cut: bool) -> Annotations | None:
    """The annotations in the JSON ``value`` of a file; None where it is another one, also where texts are annotated."""
    tasks = [t for t in value if isinstance(t, dict)] if isinstance(value, list) else []
    regions = [r for task in tasks for r in (*_results(task), *_short(task))]
    shaped = [(r, kind) for r in regions for kind in _SHAPES if isinstance(r.get(kind), list)]
    if shaped:
        classes = sorted({str(label) for r, kind in shaped for label in r[kind]})
        return Annotations("Label Studio", (source.name,), len(shaped), tuple(classes), cut)
    choices = [c for task in tasks if _shows_picture(task) for r in _results(task) for c in _list(r.get("choices"))]
    return (
        Annotations("choices of Label Studio", (source.name,), len(choices), tuple(sorted({str(c) for c in choices})), cut, _CHOICES)
        if choices
        else None
    )


def _list(value: Any) -> list:
    return value if isinstance(value, list) else []


def _results(task: dict) -> list[dict]:
    """The values of all regions of a task in the full form."""
    listed = [a for a in (*_list(task.get("annotations")), *_list(task.get("completions"))) if isinstance(a, dict)]
    results = [r for a in listed for r in _list(a.get("result")) if isinstance(r, dict)]
    return [r["value"] for r in results if isinstance(r.get("value"), dict)]


def _short(task: dict) -> list[dict]:
    return [r for value in task.values() for r in _list(value) if isinstance(r, dict)]


def _shows_picture(task: dict) -> bool:
    from trainer.data import names

    data = task.get("data")
    cells = [str(v) for v in data.values()] if isinstance(data, dict) else []
    return any(names.extension(cell.partition("?")[0]) in names.IMAGES for cell in cells)
