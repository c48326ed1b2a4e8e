"""Tables of survival: how long each row was followed, and whether the event came in that time. Each of the two tells of the other."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trainer.data import names
from trainer.data.columns import choices, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import some

MOST_CODES = 10  # different times, up to which they may be codes
_END = r"(os|dfs|pfs|dss|rfs|efs|mfs|lfs|ttp|bcr)[_ .]?"  # overall, disease-free, progression-free, … survival
_UNIT = r"(time|times|months?|days?|years?|weeks?|t)"
_TIME = re.compile(
    rf"{_END}{_UNIT}|fu_?(time|days|months|years)|futime|dtime|rfstime|surv(ival)?[_ .]?{_UNIT}|"
    rf"(overall|relapse[_ ]free)[_ .]?survival([_ .]\(?{_UNIT}\)?)?|"
    rf"follow[_ .-]?up([_ .]?{_UNIT})?|(days|months|time|years|weeks)_to_(death|event|relapse|recurrence|last_follow_?up)|tte|event_?time|t_?event"
)  # fmt: skip
_EVENT = re.compile(
    rf"{_END}(status|event|cens(or(ed)?)?)|(is_?)?(dead|death|died|deceased)([_ .]?(event|status))?|event([_ .]?(observed|occurred|status))?|fustat|"
    r"cens|censor|censored|censoring|vital[_ .]?status|(surv|survival)[_ .]?status|arrest|relapse[d]?|recurrence"
)  # fmt: skip
_PLAIN_TIME, _PLAIN_EVENT = re.compile(r"time|t"), re.compile(r"status|e")  # which have other meanings, too, unless they stand together
_NEAR_TIME = re.compile(r"time|t|days|weeks|months")  # beside an event
_SURE_TIME = re.compile(r"time|t|days|weeks?|months|years|duration")  # beside a death
_SURE_EVENT = re.compile(r"(is_?)?(dead|death|died|deceased).*|vital.*|fustat|surv.*|arrest")
_CODES = ({"0", "1"}, {"1", "2"}, {"0", "1", "2"})
_WORDS = frozenset("alive dead living deceased censored event died yes no true false".split())


@dataclass(frozen=True)
class FollowUp:
    """The columns of times, and those of the events at their ends."""

    times: tuple[str, ...]
    events: tuple[str, ...]


def find(seen: Mapping[str, Profile], tables: list[Table]) -> FollowUp | None:
    """The columns of times and events, by their names and values; None where there are not both."""
    plain = {n: n.strip().lower() for n in seen}
    times = [n for n, low in plain.items() if _TIME.fullmatch(low) and _is_time(seen[n])]
    events = [n for n, low in plain.items() if _EVENT.fullmatch(low) and _is_event(n, seen[n], tables)]
    if not times:
        sure = any(_SURE_EVENT.fullmatch(plain[n]) for n in events)
        called = _SURE_TIME if sure else _NEAR_TIME if events else _PLAIN_TIME
        named = [n for n, low in plain.items() if called.fullmatch(low) and _is_time(seen[n])]
        times = [n for n in named if sure or not _in_order(n, seen[n], tables)]
    if not events:
        events = [n for n, low in plain.items() if _PLAIN_EVENT.fullmatch(low) and _is_event(n, seen[n], tables)]
    return FollowUp(tuple(times), tuple(events)) if times and events else None


def without(label: str, settings, rest: dict[str, Profile], tables: list[Table], where: str) -> list[tuple[str, object, str]]:
    """Take the times and the other events out of ``rest`` where the label is an event, and the same where it is a time. Returns the decision about
    them, if there are any. Raises UserError where the label is neither and nobody asked for it."""
    found = find(rest, tables) if not settings.columns.strip() else None
    if found is None:
        return []
    if label not in (*found.times, *found.events):
        if not settings.label_column.strip() and label.strip().lower() not in names.LABELS:
            choices.ask_label([*found.events, *found.times, label], rest, where)
        return []
    left = [n for n in (*found.times, *found.events) if n != label]
    for name in left:
        rest.pop(name)
    what = f"The column{'s' * (len(left) > 1)} {some(left, 6)} {'are' if len(left) > 1 else 'is'} not read"
    return [("follow_up", left, f"{what}: what became of a row, and when, is known together with {label}, not before.")]


def warning(label: str, seen: Mapping[str, Profile], tables: list[Table]) -> str:
    """What a model of the event or of the time cannot know; empty for other labels."""
    found = find(seen, tables)
    if found is None or label not in (*found.times, *found.events):
        return ""
    do = "A survival model knows both: train one with a script of your own (ncsa.ray.script)."
    if label in found.events:
        return f"Rows were followed for different times ({some(found.times, 3)}), and {label} is not known of the time after. {do}"
    ends = f"{label} ends with the event in some rows only ({some(found.events, 3)})"
    return f"{ends}: in the others the true time is longer, so predictions are too short. {do}"


def _is_time(p: Profile) -> bool:
    return p.numeric and p.distinct > MOST_CODES and not p.is_identifier


def _is_event(name: str, p: Profile, tables: list[Table]) -> bool:
    """Whether a column has codes or words for an event that came or did not come: 0 and 1, alive and dead, 0:LIVING and 1:DECEASED."""
    if not 2 <= p.distinct <= 3:
        return False
    cells = {values.label(c).lower() for t in tables for c in t.different(name)} - {""}
    return cells in _CODES or (bool(cells) and all(set(re.findall(r"[a-z]+", c)) & _WORDS for c in cells))


def _in_order(name: str, p: Profile, tables: list[Table]) -> bool:
    """Whether the times grow from row to row, as a logger writes them."""
    for table in tables:
        numbers = [float(c) for c in values.as_numbers(list(table.cells(name)), p.style) if c]
        if numbers != sorted(numbers):
            return False
    return True
