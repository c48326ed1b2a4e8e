"""Only the folder of a kind knows the kind: shared code asks no kind, task or target which one it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainer.core import registry

TRAINER = Path(__file__).resolve().parents[1]
APART = ("tests", "kinds")
KINDS, TASKS = set(registry.kinds()), set(registry.tasks())
CLASSES = {type(kind).__name__ for kind in registry.kinds().values()} | {t.__name__ for kind in registry.kinds().values() for t in kind.targets}


def test_shared_code_compares_no_kind_no_task_and_no_target():
    found = [f"{file.relative_to(TRAINER)}:{line}" for file in _shared() for line in _distinctions(ast.parse(file.read_text()))]
    assert not found, "call a method of the kind or of the target instead"


@pytest.mark.parametrize(
    "code",
    [
        'plan.kind == "image"',
        'described["kind"] != "graph"',
        'kind in ("text", "tokens")',
        "base.kind == model_types.LANGUAGE",
        'task in ("text-generation",)',
        'task.endswith("regression")',
        "isinstance(target, Classes)",
        "issubclass(type(target), (int, Number))",
        "isinstance(kind, Images)",
        "type(target) is Classes",
        'match kind.name:\n    case "image":\n        pass',
        'match task:\n    case "a" | "text-generation":\n        pass',
        "match target:\n    case Classes():\n        pass",
        "match target:\n    case classes.Classes(labels=x):\n        pass",
        '{"image": 1, "text": 2}[plan.kind.name]',
        '{"text-generation": 1}',
        "dict(image=1, text=2)",
    ],
)
def test_each_form_of_a_distinction_is_seen(code):
    assert list(_distinctions(ast.parse(code))) in ([1], [2])


@pytest.mark.parametrize(
    "code",
    [
        'names == "image"',
        "isinstance(error, UserError)",
        '{"text": sentence, "code": code}',
        'match event["kind"]:\n    case "phase":\n        pass',
        "type(kind).__name__",
        'name.startswith("table")',
    ],
)
def test_other_code_is_left_alone(code):
    assert not list(_distinctions(ast.parse(code)))


def _shared() -> list[Path]:
    return [f for f in sorted(TRAINER.rglob("*.py")) if f.relative_to(TRAINER).parts[0] not in APART]


def _distinctions(tree: ast.Module) -> Iterator[int]:
    """The lines in which a kind, a task or a target is asked which one it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Match):
            yield from (case.pattern.lineno for case in node.cases if _matches_a_kind(node.subject, case.pattern))
        elif _tells_apart(node):
            yield node.lineno


def _tells_apart(node: ast.AST) -> bool:
    match node:
        case ast.Compare():
            return _names_a_kind(node) or _compares_a_type(node)
        case ast.Call():
            return _is_distinction(node)
        case ast.Dict():
            return _are_kinds(k.value for k in node.keys if isinstance(k, ast.Constant))
        case _:
            return False


def _names_a_kind(node: ast.Compare) -> bool:
    words = _words(node) | {name.lower() for name in _names(node) if name.isupper()}  # a constant is called as its value
    return bool(words & TASKS or (words & KINDS and _is_of_kinds(node)))


def _compares_a_type(node: ast.Compare) -> bool:
    asks = any(isinstance(part, ast.Call) and _called(part) == "type" for part in (node.left, *node.comparators))
    return asks and bool(CLASSES & set(_names(node)))


def _is_distinction(node: ast.Call) -> bool:
    called = _called(node)
    if called in ("isinstance", "issubclass"):
        return bool(CLASSES & set(_names(node.args[1])))
    if called == "dict":
        return _are_kinds(keyword.arg for keyword in node.keywords)
    return called in ("endswith", "startswith") and "task" in ast.unparse(node.func)


def _are_kinds(keys) -> bool:
    """Whether keys tell kinds apart. A single name of a kind can mean something else: "text" is that of an event, too."""
    found = set(keys)
    return bool(found & TASKS) or len(found & KINDS) > 1


def _matches_a_kind(subject: ast.expr, pattern: ast.pattern) -> bool:
    words = _words(pattern)
    classes = {name for node in ast.walk(pattern) if isinstance(node, ast.MatchClass) for name in _names(node.cls)}
    return bool(words & TASKS or classes & CLASSES or (words & KINDS and _is_of_kinds(subject)))


def _is_of_kinds(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return "kind" in text or "task" in text


def _words(node: ast.AST) -> set[str]:
    return {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _names(node: ast.AST) -> Iterator[str]:
    return (getattr(n, "attr", getattr(n, "id", "")) for n in ast.walk(node))
