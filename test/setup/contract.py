"""Writes what follows from the table of options: ``make contract``, after each change of an option. A test finds a file that is stale.

The table is trainer/config/options.py with trainer/kinds/*/options.py. Written from it are trainer/contract/options.json, which the service reads;
the types, limits and defaults in the forms of the extractors; the form with every option; the types of the settings for the type checker; and
the tables in docs/training.md. A form of an extractor keeps its own fields, with their order, titles and descriptions.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from trainer.config.options import Option, options, table  # noqa: E402
from trainer.config.settings_files import DATASET_FILES  # noqa: E402

RUNS = ("train", "predict", "script")
FORMS = {"train": "extractor_info.json", "predict": "extractor_info.predict.json", "script": "extractor_info.script.json"}
GROUPS = {
    "data": "Data",
    "tokenization": "Tokenization",
    "training": "Training",
    "language": "Language models",
    "graph": "Graphs",
    "series": "Series",
    "table": "Tables",
    "search": "Search",
    "resources": "Resources",
    "output": "Results",
}
PICKERS = ("validation_file", "test_file", "annotation_file")  # of the long form, behind the file to train on
DESCRIPTION = "Trains like ncsa.ray.finetune, with all options in the form. Needs no settings."
TABLE = re.compile(r"^\| option \| default \| values \| meaning \|\n(?:\|.*\n)+", re.MULTILINE)  # of one kind of run, as options.table writes it
LIST = re.compile(r"\[\n[^\[\]{}]*\]")  # of texts, which these forms have in one line
TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def written() -> dict[str, str]:
    """Path in the repository -> text of each file that follows from the table."""
    files = {
        name: LIST.sub(lambda m: re.sub(r"\s*\n\s*", " ", m[0]).replace("[ ", "[").replace(" ]", "]"), _text(_form(kind)))
        for kind, name in FORMS.items()
    }
    files["extractor_info.advanced.json"] = _text(_long_form(_form("train")))
    files["trainer/contract/options.json"] = _contract()
    files["trainer/config/option_values.pyi"] = _types()
    files["docs/training.md"] = _documentation()
    return files


def _contract() -> str:
    """The table for the service: the options of each kind of run, one in a line."""
    runs = [f'"{kind}": [\n' + ",\n".join(json.dumps(_row(o)) for o in options(kind).values()) + "\n]" for kind in RUNS]
    return "{\n" + f'"settings_files": {json.dumps(DATASET_FILES)},\n' + ",\n".join(runs) + "\n}\n"


def _row(option: Option) -> dict:
    row = {"name": option.name, "group": option.group, "type": TYPES[type(option.default)], "default": option.default}
    row |= {"description": f"{option.help}."} if option.help else {}
    row |= {"enum": option.choices} if option.choices else {}
    row |= {"minimum": option.low, "maximum": option.high} if option.low is not None else {}
    marks = {name: getattr(option, name) for name in ("since", "neutral", "searchable", "service", "kind", "also_in")}
    return row | {name: mark for name, mark in marks.items() if mark}


def _form(kind: str) -> dict:
    """The form of an extractor: its own fields, with the types, defaults and limits of the table."""
    info = json.loads((ROOT / FORMS[kind]).read_text(encoding="utf-8"))
    schema = info["parameters"]["schema"]
    for name, drawn in schema.items():
        option = options(kind)[name]
        facts = _field(option)
        schema[name] = drawn | {key: facts[key] for key in ("type", "enum", "default", "minimum", "maximum") if key in facts}
        if schema[name].get("default") == 0 and option.choices == () and not isinstance(option.default, bool):
            schema[name]["default"] = 0  # as people write it
        if drawn.get("format") == "ClowderFile":  # a picker of files has no default
            schema[name].pop("default", None)
    return info


def _long_form(info: dict) -> dict:
    """The form of a training, and every other option in groups."""
    info["name"], info["description"] = "ncsa.ray.finetune-advanced", DESCRIPTION
    schema = {}
    for name, drawn in info["parameters"]["schema"].items():
        schema[name] = drawn
        schema |= {o.name: _picker(o) for o in options("train").values() if name == "data_file" and o.name in PICKERS}
    info["parameters"]["schema"] = schema
    hidden = [o for o in options("train").values() if o.name not in schema]
    if unnamed := {o.group for o in hidden} - GROUPS.keys():
        raise SystemExit(f"the group {min(unnamed)} has no title: add it to GROUPS in test/setup/contract.py")
    for group, title in GROUPS.items():
        schema[group] = {"type": "object", "title": title, "properties": {o.name: _field(o) for o in hidden if o.group == group}}
    return info


def _field(option: Option) -> dict:
    """An option as a property of a form; Clowder shows the first choice, so the default comes first."""
    drawn = {"type": TYPES[type(option.default)], "title": option.name.replace("_", " ").capitalize()}
    if option.choices:
        drawn["enum"] = list(option.choices)
    drawn["default"] = option.default
    if option.low is not None:
        drawn |= {"minimum": option.low, "maximum": option.high}
    if option.help:
        drawn["description"] = f"{option.help}."
    return drawn


def _picker(option: Option) -> dict:
    """An option as a field in which Clowder lets people pick a file, of any dataset."""
    facts = _field(option)
    return {"type": facts["type"], "title": facts["title"], "format": "ClowderFile", "description": facts["description"]}


def _types() -> str:
    """The attributes of the settings with their types, as a stub for the type checker."""
    named = {o.name: type(o.default).__name__ for kind in RUNS for o in options(kind).values()}
    lines = [f"    @property\n    def {name}(self) -> {kind}: ...\n" for name, kind in named.items()]
    return "# Written by make contract.\n\nclass OptionValues:\n    _sources: dict[str, str]\n" + "".join(lines)


def _documentation() -> str:
    """docs/training.md with the tables of a training and of a prediction, in this order."""
    tables = iter([table("train"), table("predict")])
    return TABLE.sub(lambda _: next(tables), (ROOT / "docs/training.md").read_text(encoding="utf-8"))


def _text(document: dict) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in written().items():
        (ROOT / path).write_text(text, encoding="utf-8")
