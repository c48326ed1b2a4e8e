"""Prints extractor_info.advanced.json: the form of extractor_info.json, and every other option of a training in groups.

With ``options`` it prints the options as a settings file names them, for the check of such files in the studio, and with ``types`` the types
of the settings for the type checker. Run them as ``make form`` when an option is added; tests compare the files with this output.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from trainer.config.options import Option, options  # noqa: E402

GROUPS = {
    "data": "Data",
    "tokenization": "Tokenization",
    "training": "Training",
    "language": "Language models",
    "graph": "Graphs",
    "search": "Search",
    "resources": "Resources",
    "output": "Results",
}
DESCRIPTION = "Trains like ncsa.ray.finetune, with all options in the form. Needs no settings."


def form() -> dict:
    info = json.loads((ROOT / "extractor_info.json").read_text(encoding="utf-8"))
    info["name"], info["description"] = "ncsa.ray.finetune-advanced", DESCRIPTION
    schema = info["parameters"]["schema"]
    hidden = [o for o in options("train").values() if o.name not in schema]
    for group, title in GROUPS.items():
        properties = {o.name: field(o) for o in hidden if o.group == group}
        schema[group] = {"type": "object", "title": title, "properties": properties}
    return info


def field(option: Option) -> dict:
    """An option as a property of a form; Clowder shows the first choice, so the default comes first."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    drawn = {"type": kinds[type(option.default)], "title": option.name.replace("_", " ").capitalize()}
    if option.choices:
        drawn["enum"] = list(option.choices)
    drawn["default"] = option.default
    if option.low is not None:
        drawn |= {"minimum": option.low, "maximum": option.high}
    if option.help:
        drawn["description"] = f"{option.help}."
    return drawn


def text() -> str:
    return json.dumps(form(), indent=2) + "\n"


def table() -> str:
    """The options of a training with their groups, one per line; a form shows some of them outside of their group."""
    rows = [json.dumps({"name": o.name, "group": o.group} | _limits(o)) for o in options("train").values()]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def types() -> str:
    """The attributes of the settings with their types, as a stub for the type checker."""
    named = {o.name: type(o.default).__name__ for kind in ("train", "predict", "script") for o in options(kind).values()}
    lines = [f"    @property\n    def {name}(self) -> {kind}: ...\n" for name, kind in named.items()]
    return "# Written by make form.\n\nclass OptionValues:\n    _sources: dict[str, str]\n" + "".join(lines)


def _limits(option: Option) -> dict:
    drawn = field(option)
    return {name: drawn[name] for name in ("type", "default", "enum", "minimum", "maximum", "description") if name in drawn}


if __name__ == "__main__":
    print({"options": table, "types": types}.get("".join(sys.argv[1:]), text)(), end="")
