"""The search space: the options that are searched, their values, and the settings of every trial."""

import difflib
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainer.config.option import Option
from trainer.config.options import options, searchable
from trainer.config.settings import ADMINISTRATOR, CHOSEN, DATASET, DEFAULT, FILE, FORM, Settings
from trainer.errors import UserError, some

if TYPE_CHECKING:  # the driver reads the options before it imports numpy
    import numpy

MODEL = "model"  # searched by itself: the installed models before their settings
MAX_CHOICES = 50  # of one option
MAX_TEXT = 2000  # characters of search.space
_LOGARITHMIC = ("learning_rate", "weight_decay")
_EXAMPLE = "Write it like learning_rate: 1e-4..1e-2, batch_size: 16|32|64."


@dataclass(frozen=True)
class Range:
    """Numbers between two ends, drawn evenly or, if ``logarithmic``, evenly over their orders of magnitude."""

    low: float
    high: float
    whole: bool
    logarithmic: bool

    def draw(self, random: "numpy.random.Generator") -> int | float:
        """A number with three significant digits, so that it is written as it was used."""
        low, high = (math.log(self.low), math.log(self.high)) if self.logarithmic else (self.low, self.high)
        drawn = random.uniform(low, high)
        value = min(self.high, max(self.low, float(f"{math.exp(drawn) if self.logarithmic else drawn:.3g}")))
        return round(value) if self.whole else value


@dataclass(frozen=True)
class Choices:
    """A few values, drawn with equal probability."""

    values: tuple

    def draw(self, random: "numpy.random.Generator"):
        return self.values[int(random.integers(len(self.values)))]


Space = dict[str, Range | Choices]


def is_wanted(settings: Settings) -> bool:
    """Whether the run is to search."""
    return settings.trials > 1 or settings.minutes > 0


def check(settings: Settings) -> None:
    """Raise UserError if search.space cannot be used, before any data is read."""
    if is_list(settings.space):
        listed(settings.space)
    elif settings.space:
        check_open(parse(settings.space), settings)


def parse(text: str) -> Space:
    """The space in ``text``: options separated by commas, each with a range (``1e-4..1e-2``) or choices (``16|32|64``).

    Raises UserError for an unknown option, an option that cannot be searched, and values that the option does not take.
    """
    found: Space = {}
    if len(text) > MAX_TEXT:
        raise _wrong(f"search.space is longer than {MAX_TEXT} characters.")
    for part in filter(None, (p.strip() for p in text.replace("\n", ",").replace(";", ",").split(","))):
        name, colon, values = (p.strip() for p in part.partition("=" if "=" in part else ":"))
        if not colon or not values:
            raise _wrong(f"search.space: {part[:60]} names no option with its values.")
        option = _option(name)
        if option.name in found:
            raise _wrong(f"search.space names {option.name} twice.", "Leave one of them.")
        found[option.name] = _range(option, values) if ".." in values else _choices(option, values)
    return found


def listed(text: str) -> list[dict]:
    """The trials in a list of trials, as ``as_list`` writes it: the settings of each but the first, which has the defaults."""
    found = []
    for part in text.strip().removeprefix("{").removesuffix("}").split("} {"):
        settings: dict = {}
        for pair in filter(None, (p.strip() for p in part.split(","))):
            name, _, value = (p.strip() for p in pair.partition(":"))
            settings[name] = value if name == MODEL else _value(_option(name), value)
        found.append(settings)
    return found


def is_list(text: str) -> bool:
    """Whether ``search.space`` is a list of trials instead of a space."""
    return text.strip().startswith("{")


def as_list(trials: list[dict]) -> str:
    """The settings of trials as search.space takes them, to repeat a search: ``{learning_rate: 0.002} {batch_size: 64}``."""
    return " ".join("{" + ", ".join(f"{n}: {str(v).lower() if isinstance(v, bool) else v}" for n, v in t.items()) + "}" for t in trials)


def check_open(space: Space, settings: Settings) -> None:
    """Raise UserError if an option is both searched and set."""
    for name in space:
        source = settings.source(name)
        if source not in (DEFAULT, CHOSEN, ADMINISTRATOR):
            where = {FORM: "the form", DATASET: "the settings file of the dataset", FILE: "the settings file"}.get(source, source.replace(" ", "_"))
            raise UserError(
                "search_space", f"{name} is set to {getattr(settings, name)} in {where} and searched in search.space.", "Leave one of them."
            )


def default(settings: Settings, rate: float, fresh: bool, classifies: bool) -> Space:
    """What is searched if search.space is empty: the open ones of these options.

    ``rate`` is the learning rate that the trainer would choose. No batch is smaller than the default one, because small batches make an
    epoch longer and the time of the search is planned in epochs.
    """
    wide = 10.0 if fresh else 4.0
    space: Space = {
        "learning_rate": Range(float(f"{rate / wide:.3g}"), float(f"{rate * wide:.3g}"), False, True),
        "batch_size": Choices((settings.batch_size, 2 * settings.batch_size)),
        "weight_decay": Range(0.001, 0.3, False, True),
    }
    if classifies:
        space["label_smoothing"] = Choices((0.0, 0.05, 0.1))
    return {name: values for name, values in space.items() if settings.source(name) in (DEFAULT, CHOSEN)}


def draw(space: Space, seed: int, trial: int) -> dict[str, int | float | str | bool]:
    """The settings of a trial. They are a function of the space, the seed and the number of the trial; trial 0 has the defaults.

    Each option has random numbers of its own, so that another option in the space does not change its values.
    """
    if trial == 0:
        return {}
    import numpy

    return {name: values.draw(numpy.random.default_rng([seed, trial, zlib.crc32(name.encode())])) for name, values in sorted(space.items())}


def _option(name: str) -> Option:
    plain = name.lower().replace("-", "_")
    short = plain.rpartition(".")[2]
    option = options("train").get(short)
    if option is None or plain not in (short, f"{option.group}.{short}"):
        close = difflib.get_close_matches(short, searchable(), 1)
        raise _wrong(f"search.space names no option called {name[:60]}{f'; did you mean {close[0]}?' if close else '.'}")
    if not option.searchable:
        raise _wrong(f"search.space: {short} cannot be searched.", f"Options that can be searched: {some(searchable(), len(searchable()))}.")
    return option


def _range(option: Option, values: str) -> Range:
    low, _, high = (p.strip() for p in values.partition(".."))
    try:
        first, last = float(low), float(high)
        valid = math.isfinite(first) and math.isfinite(last) and first < last
    except ValueError:
        valid = False
    if not valid or isinstance(option.default, (str, bool)):
        raise _wrong(f"search.space: {values[:60]} needs two numbers, the smaller first.")
    first, last = _value(option, low), _value(option, high)
    logarithmic = first > 0 and (option.name in _LOGARITHMIC or last >= 10 * first)
    return Range(first, last, isinstance(option.default, int), logarithmic)


def _choices(option: Option, values: str) -> Choices:
    parts = [p.strip() for p in values.split("|")]
    if len(parts) > MAX_CHOICES:
        raise _wrong(f"search.space: {option.name} has {len(parts)} values; at most {MAX_CHOICES} are possible.")
    return Choices(tuple(dict.fromkeys(_value(option, part) for part in parts)))


def _value(option: Option, text: str):
    try:
        if not text:
            raise ValueError("needs a value between two |")
        return option.parse(text)
    except ValueError as e:
        raise _wrong(f"search.space: {option.name} {e}{f', not {text[:40]}' if text else ''}.") from None


def _wrong(what: str, do: str = _EXAMPLE) -> UserError:
    return UserError("search_space", what, do)
