"""The settings of a run: the value of each option, and the source that decided it.

The service resolves the sources: a changed field of the form, ``more_options``, the file named by ``config_file``, a file of the dataset called
finetune.yaml, the administrator's defaults, the defaults of options.py. The trainer takes over what spec.json says.
"""

from collections.abc import Sequence
from typing import NoReturn

from trainer.config.option import Option
from trainer.config.option_values import OptionValues
from trainer.config.options import options
from trainer.config.spec import Spec
from trainer.errors import UserError, one_line
from trainer.run_folder.events import Events

FORM, MORE, FILE, DATASET, ADMINISTRATOR, DEFAULT, CHOSEN = (
    "form", "more options", "settings file", "dataset", "administrator", "default", "chosen",
)  # fmt: skip
OF_USERS = (FORM, MORE, FILE, DATASET)


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

    def with_default(self, **values) -> "Settings":
        """A copy with those of these values whose options are open. Raises KeyError as ``with_chosen`` does."""
        return self.with_chosen(**{name: value for name, value in values.items() if self.is_open(name)})

    def listed(self) -> list[dict]:
        """The settings of result.json, in the order of the table."""
        return [{"name": n, "value": getattr(self, n), "source": s} for n, s in self._sources.items() if n not in ("config_file", "more_options")]


def of(spec: Spec, events: Events) -> Settings:
    """The settings that ``spec`` holds. What its user is to read about them is written to ``events``.

    An option that is not there has its default. Raises ValueError for a name that is no option, or a value of another type, and UserError for
    a wrong value of an option that the service does not know.
    """
    table = options(spec.kind)
    if unknown := spec.settings.keys() - table.keys():
        raise ValueError(f"spec.json has a setting {min(unknown)}, which is no option of this trainer")
    values = {name: _typed(option, spec.settings.get(name, option.default)) for name, option in table.items()}
    sources = {name: spec.sources.get(name, FORM if name in spec.settings else DEFAULT) for name in table}
    for note in spec.notes:
        option = table.get(note.get("option", ""))
        if option is None or option.name in spec.settings:
            events.warning(note["code"], note["text"])
        elif sources[option.name] == DEFAULT:  # of a kind that MORE_KINDS adds
            values[option.name], sources[option.name] = _parsed(option, note["value"]), note["source"]
    return Settings(values, sources)


def warn_of_other_kinds(settings: Settings, kind: str, taken: Sequence[str], events: Events) -> None:
    """Say which options have no effect because they belong to a kind of data that did not win. A default, which a repeated run has, is no
    wish. ``taken`` are those of other kinds that this kind reads."""
    for option in options("train").values():
        is_set = settings.source(option.name) in OF_USERS and getattr(settings, option.name) != option.default
        if option.kind not in ("", kind) and option.name not in taken and is_set:
            text = f"The option {option.name} is of the kind {option.kind}: the data of this run is of the kind {kind}, so it has no effect."
            events.warning("other_kind", text)


def _parsed(option: Option, text: str):
    try:
        return option.parse(text)
    except ValueError as e:
        raise UserError("wrong_setting", f"The option {option.name} {e}, not {one_line(text, 40)}.", f"Correct {option.name}.") from None


def _typed(option: Option, value):
    """``value``, which JSON may hold as another type of number. Raises ValueError for what is of no such type."""
    kind = type(option.default)
    if (kind is float and type(value) is int) or (kind is int and type(value) is float and value == int(value)):
        return kind(value)
    if type(value) is not kind:
        raise ValueError(f"spec.json has {value!r} for the setting {option.name}, which is a {kind.__name__}")
    return value
