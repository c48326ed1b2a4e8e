"""The resolved options of a run: which of several sources decides each option.

The order of the sources is: a changed field of the form, ``more_options``, the file named by ``config_file``, a file of the dataset
called finetune.yaml, the administrator's defaults, the defaults of options.py. Unknown names give a warning. A wrong value is
refused with one sentence that names its source.
"""

import ast
import difflib
import json
from pathlib import PurePosixPath
from typing import NoReturn

from trainer.config.option import Option
from trainer.config.option_values import OptionValues
from trainer.config.options import options
from trainer.config.spec import Spec
from trainer.core.input import Input
from trainer.errors import UserError, one_line, some
from trainer.run_folder import files
from trainer.run_folder.events import Events

MAX_FILE_BYTES = 1 << 20
DATASET_FILES = ("finetune.yaml", "finetune.yml", "finetune.json")
OF_THE_SERVICE = frozenset({"automatic"})  # lines of the dataset's settings file that the service reads
FORM, MORE, FILE, DATASET, ADMINISTRATOR, DEFAULT, CHOSEN = (
    "form", "more options", "settings file", "dataset", "administrator", "default", "chosen",
)  # fmt: skip


class Settings(OptionValues):
    """The resolved options, as attributes. They never change: what the trainer chooses for an open option is in a copy, with its source."""

    def __init__(self, values: dict, sources: dict[str, str]):
        self.__dict__.update(values, _sources=dict(sources))

    def __setattr__(self, name: str, value) -> NoReturn:
        raise AttributeError(f"settings are frozen: use with_chosen({name}=...), which returns a copy")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("settings are frozen")

    def source(self, name: str) -> str:
        """The source that decided the option."""
        return self._sources[name]

    def is_open(self, name: str) -> bool:
        """Whether the option still has its built-in default."""
        return self._sources[name] == DEFAULT

    def with_chosen(self, **values) -> "Settings":
        """A copy with these values, which the trainer has chosen. Raises KeyError for a name that is not an option of this run."""
        if unknown := values.keys() - self._sources.keys():
            raise KeyError(f"no option of this run is called {min(unknown)}")
        kept = {n: getattr(self, n) for n in self._sources}
        return Settings(kept | values, self._sources | dict.fromkeys(values, CHOSEN))

    def listed(self) -> list[dict]:
        """The settings of result.json, in the order of the table."""
        return [{"name": n, "value": getattr(self, n), "source": s} for n, s in self._sources.items() if n not in ("config_file", "more_options")]


def resolve(spec: Spec, events: Events) -> Settings:
    """The options of ``spec``, from all their sources. Raises UserError for a wrong value or an unreadable file."""
    table = options(spec.kind)
    layers = [(FORM, "the form", spec.parameters), (ADMINISTRATOR, "the administrator's defaults", spec.defaults)]
    if spec.kind == "train":
        text = str(spec.parameters.get("more_options") or "")
        file = _chosen_file(spec, str(spec.parameters.get("config_file") or ""))
        layers[1:1] = [(MORE, "more_options", _lines(text)), *([(FILE, file.name, _read(file))] if file else []), *_dataset_file(spec, file)]
    values, sources = {n: o.default for n, o in table.items()}, dict.fromkeys(table, DEFAULT)
    for source, where, given in reversed(layers):
        for name, value in _known(given, table, where, events).items():
            parsed = _parse(table[name], value, where)
            if source == ADMINISTRATOR and parsed == table[name].default:
                continue
            values[name], sources[name] = parsed, source
    return Settings(values, sources)


def is_settings_file(name: str) -> bool:
    """Whether a file of the dataset contains settings instead of data."""
    return PurePosixPath(name).name.lower() in DATASET_FILES


def _parse(option: Option, value, where: str):
    try:
        return option.parse(value)
    except ValueError as e:
        what = f"The option {option.name} in {where} {e}, not {_shown(value)}."
        raise UserError("wrong_setting", what, f"Correct {option.name} in {where}.") from None


def _twice(name: str, where: str) -> UserError:
    return UserError("wrong_setting", f"The option {name} is set twice in {where}, with different values.", f"Remove one of them from {where}.")


def _shown(value) -> str:
    """A wrong value for a sentence. Lists are not printed: a few lines of YAML can define a list of a billion entries."""
    if isinstance(value, (list, tuple, dict, set)):
        return "a group of options" if isinstance(value, dict) else "a list"
    try:
        return one_line(str(value), 40) or "an empty text"
    except ValueError:  # Python refuses to print a number of thousands of digits
        return "such a large number"


def _known(given: dict, table: dict[str, Option], where: str, events: Events) -> dict:
    """The entries of ``given`` that are options, without their groups. The others give a warning."""
    known: dict = {}
    unknown: list[str] = []
    for name, value in _flat(given):
        plain = name.strip().lower().replace("-", "_")
        short = plain.rpartition(".")[2]
        option = table.get(short)
        if option is not None and plain in (short, f"{option.group}.{short}"):
            if value is not None and value != "":
                if short in known and known[short] != value:
                    raise _twice(short, where)
                known[short] = value
        else:
            unknown.append(name)
    for name in unknown[:20]:
        close = difflib.get_close_matches(name.rpartition(".")[2].lower(), table, 1)
        events.warning(
            "unknown_option", f"The option {name[:60]} in {where} is unknown and is ignored{f'; did you mean {close[0]}?' if close else '.'}"
        )
    return known


def _flat(given: dict):
    """Pairs of dotted name and value: groups may be nested one level deep."""
    for name, value in given.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", v) for inner, v in value.items())
        else:
            yield str(name), value


def _lines(text: str) -> dict:
    """The options in lines of the form ``name: value`` or ``name = value``; # begins a comment."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        at = min((line.find(c) for c in ":=" if c in line), default=-1)
        if at <= 0:
            raise UserError(
                "wrong_setting",
                f"Line {number} of more_options is not an option: {line[:60]}.",
                "Write one option in each line, for example training.seed: 7.",
            )
        name, value = line[:at].strip(), line[at + 1 :].strip().strip("\"'")
        if found.setdefault(name, value) != value:
            raise _twice(name, "more_options")
    return found


def _chosen_file(spec: Spec, wanted: str) -> Input | None:
    if not wanted:
        return None
    for same in (lambda i: wanted in (i.id, i.name), lambda i: PurePosixPath(i.name).name == wanted):
        if found := next(filter(same, spec.inputs), None):
            return found
    names = [i.name for i in spec.inputs if _suffix(i.name) in ("yaml", "yml", "json", "py")]
    raise UserError(
        "unknown_file",
        f"There is no settings file {wanted} in the dataset.",
        "Choose one of these as config_file, or leave it empty.",
        f"Settings files in the dataset: {some(names)}.",
    )


def _dataset_file(spec: Spec, chosen: Input | None) -> list:
    """The settings file of the dataset that is found by its name. If there are several, the one nearest to the top."""
    named = sorted((i for i in spec.inputs if is_settings_file(i.name) and i is not chosen), key=lambda i: (i.name.count("/"), i.name))
    if not named:
        return []
    return [(DATASET, named[0].name, {name: value for name, value in _read(named[0]).items() if name not in OF_THE_SERVICE})]


def _read(file: Input) -> dict:
    """The options in a YAML, JSON or Python file. Python code is never run, only literals are read."""
    try:
        if file.size > MAX_FILE_BYTES:
            raise ValueError("it is larger than 1 MiB")
        found = _decode(files.read_bytes(file.file, MAX_FILE_BYTES).decode("utf-8-sig"), _suffix(file.name))
    except UnicodeDecodeError as e:
        raise UserError("settings_file", f"The settings file {file.name} is not UTF-8 text.", "Save it in UTF-8.") from e
    except (OSError, ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as e:
        why = f"{type(e).__name__}: {e}" if isinstance(e, SyntaxError) else str(e)
        raise UserError(
            "settings_file",
            f"The settings file {file.name} cannot be read.",
            "Correct the file. Write lines like epochs: 5.",
            f"{why.splitlines()[0].rstrip('.') if why else 'Its format is invalid'}.",
        ) from e
    if not isinstance(found, dict):
        raise UserError("settings_file", f"The settings file {file.name} contains no named options.", "Write lines like epochs: 5.")
    return found


def _decode(text: str, suffix: str):
    if suffix == "json":
        return json.loads(text, object_pairs_hook=_once)
    if suffix == "py":
        return _literals(text)
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuses duplicate keys, of which YAML would use the last."""

        def construct_mapping(self, node, deep=False):
            keys = [k.value for k, _ in node.value if isinstance(k, yaml.ScalarNode) and k.value != "<<"]
            _once((k, None) for k in keys)
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader) or {}
    except yaml.MarkedYAMLError as e:
        place = f"line {e.problem_mark.line + 1}:" if e.problem_mark else ""
        raise ValueError(" ".join(filter(None, (place, e.context, e.problem)))) from e
    except (yaml.YAMLError, LookupError, AttributeError) as e:  # the last two come from values that do not match their tags
        raise ValueError(" ".join(str(e).split())) from e


def _once(pairs) -> dict:
    """The pairs of name and value as a dict. Raises ValueError for a duplicate name."""
    found = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{str(name)[:60]} appears twice")
        found[name] = value
    return found


def _literals(text: str) -> dict:
    """The assignments of literals in a Python file, for example ``epochs = 5``. Raises ValueError for anything else."""
    found = []
    for statement in ast.parse(text).body:
        try:
            found += _assigned(statement)
        except ValueError as e:
            raise ValueError(f"line {statement.lineno} is not an assignment of a plain value") from e
    return _once(found)


def _assigned(statement: ast.stmt) -> list[tuple]:
    """Pairs of name and value in a statement: ``a = 1``, ``a: int = 1``, or a dict. A bare string counts as a comment."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.Constant, ast.Dict)):
        value = ast.literal_eval(statement.value)
        return list(value.items()) if isinstance(value, dict) else []
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        raise ValueError
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name) or statement.value is None:
        raise ValueError
    return [(targets[0].id, ast.literal_eval(statement.value))]


def _suffix(name: str) -> str:
    return PurePosixPath(name.lower()).suffix.lstrip(".")
