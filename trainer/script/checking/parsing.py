"""Compiles Python files and lists their imports: a program that runs as a process of its own, because source code can be made to exhaust
or crash the compiler. It imports nothing of ours and executes nothing.

It reads {path: text} as JSON from standard input, and prints {"errors": {path: [line, text]}, "imports": {path: [[module, line, certain]]}}.
``certain`` says that the file cannot be run without the module: the import is not inside of a function, a condition or a try.
"""

import ast
import json
import sys

ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def imports_of(tree: ast.Module) -> list[list]:
    """The absolute imports in ``tree``: module, line, and whether it is certain that they are carried out."""
    found: list[list] = []
    waiting: list[tuple[ast.AST, bool]] = [(tree, True)]
    while waiting:
        node, certain = waiting.pop()
        if isinstance(node, ast.Import):
            found += [[alias.name, node.lineno, certain] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append([node.module, node.lineno, certain])
        certain = certain and isinstance(node, (ast.Module, ast.With, ast.ClassDef))
        waiting += [(child, certain) for child in ast.iter_child_nodes(node)]
    return sorted(found, key=lambda one: one[1])


def main() -> None:
    errors, imports = {}, {}
    for path, text in json.load(sys.stdin).items():
        try:
            tree = ast.parse(text, path)
            compile(text, path, "exec", dont_inherit=True)
            imports[path] = imports_of(tree)
        except ERRORS as e:
            errors[path] = [getattr(e, "lineno", None) or 0, (str(getattr(e, "msg", "") or e) or "it is nested too deeply")[:300]]
    json.dump({"errors": errors, "imports": imports}, sys.stdout)


if __name__ == "__main__":
    main()
