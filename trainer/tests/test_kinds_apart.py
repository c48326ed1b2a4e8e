"""Only the folder of a kind knows the kind: shared code asks no kind, task or target which one it is."""

import ast
from pathlib import Path

from trainer.core import registry

TRAINER = Path(__file__).resolve().parents[1]
APART = ("tests", "kinds")


def test_shared_code_compares_no_kind_no_task_and_no_target():
    found = [f"{file.relative_to(TRAINER)}:{line}" for file in _shared() for line in _comparisons(file)]
    assert not found, "call a method of the kind or of the target instead"


def test_the_look_finds_each_form_of_a_comparison(tmp_path):
    file = tmp_path / "shared.py"
    file.write_text(
        'a = plan.kind == "image"\nb = task.endswith("regression")\nc = isinstance(target, Classes)\n'
        'd = task in ("text-generation",)\ne = described["kind"] != "graph"\nf = names == "image"\n'
    )
    assert list(_comparisons(file)) == [1, 2, 3, 4, 5]


def _shared():
    return [f for f in sorted(TRAINER.rglob("*.py")) if f.relative_to(TRAINER).parts[0] not in APART]


def _comparisons(file: Path):
    kinds = registry.kinds()
    tasks, targets = set(registry.tasks()), {t.__name__ for kind in kinds.values() for t in kind.targets}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Compare) and _names_a_kind(node, kinds.keys(), tasks):
            yield node.lineno
        if isinstance(node, ast.Call) and _called(node) == "isinstance" and targets & set(_names(node.args[1])):
            yield node.lineno
        if isinstance(node, ast.Call) and _called(node) in ("endswith", "startswith") and "task" in ast.unparse(node.func):
            yield node.lineno


def _names_a_kind(node: ast.Compare, kinds, tasks: set[str]) -> bool:
    text, words = ast.unparse(node), {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return bool(words & tasks or (words & kinds and ("kind" in text or "task" in text)))


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _names(node: ast.expr):
    return (getattr(n, "attr", getattr(n, "id", "")) for n in ast.walk(node))
