"""spec.json of version 2, for runs that were made before the service resolved the options itself.

It has the changed fields of the form and the defaults of the form. The other sources are the texts that they name: they were read without a
mistake when the run began, so this reading is short.
"""

import ast
import json
import re
from pathlib import Path, PurePosixPath

from trainer.config.options import options
from trainer.config.settings_files import is_settings_file
from trainer.run_folder import files

SCHEMA = 2
_MOST_BYTES = 1 << 20


def upgraded(document: dict, inputs: Path) -> dict:
    """The spec in version 3; ``inputs`` is the folder of its files. Raises ValueError for what the run did not begin with: a wrong value, or a
    file that is not there or no settings.
    """
    form, defaults = document["parameters"], document["defaults"]
    layers = [("form", form), ("administrator", defaults)]
    if document["kind"] == "train":
        chosen = _chosen(document["inputs"], form.get("config_file") or "")
        nearest = min((i for i in document["inputs"] if is_settings_file(i["name"]) and i is not chosen), key=_depth, default=None)
        read = [(source, _read(inputs / i["path"])) for source, i in (("settings file", chosen), ("dataset", nearest)) if i is not None]
        layers[1:1] = [("more options", _lines(form.get("more_options") or "")), *read]
    table, settings, sources = options(document["kind"]), {}, {}
    for source, values in reversed(layers):
        for name, value in _flat(values):
            plain = str(name).strip().lower().replace("-", "_")
            option = table.get(plain.rpartition(".")[2])
            if option is None or plain not in (option.name, f"{option.group}.{option.name}") or value is None or value == "":
                continue
            settings[option.name], sources[option.name] = option.parse(value), source
            if source == "administrator" and settings[option.name] == option.default:
                del settings[option.name], sources[option.name]
    kept = {name: value for name, value in document.items() if name not in ("parameters", "defaults")}
    return kept | {"schema": 3, "settings": settings, "sources": sources}


def _chosen(inputs: list[dict], name: str) -> dict | None:
    if not name:
        return None
    same = [i for i in inputs if name in (i.get("id"), i["name"])] or [i for i in inputs if PurePosixPath(i["name"]).name == name]
    if not same:
        raise ValueError(f"the run has no file {name}, which config_file names")
    return same[0]


def _depth(file: dict) -> tuple:
    return file["name"].count("/"), file["name"]


def _lines(text: str) -> dict:
    pairs = (re.match(r"\s*([^:=]+?)\s*[:=](.*)", line.split("#", 1)[0]) for line in text.splitlines())
    return {pair[1]: pair[2].strip().strip("\"'") for pair in pairs if pair}


def _read(path: Path) -> dict:
    import yaml

    text = files.read_bytes(path, _MOST_BYTES).decode("utf-8-sig")
    if path.suffix.lower() == ".py":
        values: dict = {}
        for statement in ast.parse(text).body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                values |= dict([_assigned(statement)])
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Dict):
                values |= ast.literal_eval(statement.value)
        return values
    values = json.loads(text) if path.suffix.lower() == ".json" else yaml.safe_load(text) or {}
    if not isinstance(values, dict):
        raise ValueError(f"the settings file {path.name} contains no named options")
    return values


def _assigned(statement: ast.Assign | ast.AnnAssign) -> tuple:
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    return ast.unparse(target), ast.literal_eval(statement.value or "None")


def _flat(values: dict):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", v) for inner, v in value.items())
        else:
            yield name, value
