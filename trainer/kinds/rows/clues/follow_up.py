"""Tables of survival: how long each row was followed, and whether the event came in that time. Each of the two tells of the other.

Some names say so by themselves, such as OS_MONTHS and death. Others, such as time and status, are those of a process, too: there the values must be
possible for a follow-up, and nothing is refused.
"""

import itertools
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
_DURATION = re.compile(r"time|t|days|weeks?|months|years|duration")  # beside an event
_SURE_EVENT = re.compile(r"(is_?)?(dead|death|died|deceased).*|vital.*|fustat|surv.*|arrest")
_RULED = 0.1  # of the changes of the event from row to row that chance makes, up to which, in the order of time, the time determines the event
_LOOK = 20_000  # rows of a table that are looked at
_CODES = ({"0", "1"}, {"1", "2"}, {"0", "1", "2"})
_WORDS = frozenset("alive dead living deceased censored event died yes no true false".split())


@dataclass(frozen=True)
class FollowUp:
    """The columns of times, and those of the events at their ends. ``sure`` says whether a name tells that rows were followed."""

    times: tuple[str, ...]
    events: tuple[str, ...]
    sure: bool


def find(seen: Mapping[str, Profile], tables: list[Table]) -> FollowUp | None:
    """The columns of times and events, by their names and values; None where there are not both."""
    plain = {n: n.strip().lower() for n in seen}
    times = [n for n, low in plain.items() if _TIME.fullmatch(low) and _is_time(seen[n])]
    events = [n for n, low in plain.items() if _EVENT.fullmatch(low) and _is_event(n, seen[n], tables)]
    sure = bool(times) or any(_SURE_EVENT.fullmatch(plain[n]) for n in events)
    if not times:
        called = _DURATION if events else _PLAIN_TIME
        times = [n for n, low in plain.items() if called.fullmatch(low) and _is_time(seen[n])]
    if not events:
        events = [n for n, low in plain.items() if _PLAIN_EVENT.fullmatch(low) and _is_event(n, seen[n], tables)]
    if not sure:
        times = [n for n in times if all(_may_be_followed(n, e, seen[n], tables) for e in events)]
    return FollowUp(tuple(times), tuple(events), sure) if times and events else None


def without(label: str, settings, rest: dict[str, Profile], tables: list[Table], where: str) -> list[tuple[str, object, str]]:
    """Take the times and the other events out of ``rest`` where the label is an event, and the same where it is a time. Returns the decision about
    them, if there are any. Raises UserError where the label is neither, nobody asked for it, and a name tells that rows were followed."""
    found = find(rest, tables) if not settings.columns.strip() else None
    if found is None:
        return []
    if label not in (*found.times, *found.events):
        if settings.label_column.strip() or label.strip().lower() in names.LABELS:
            return []
        if found.sure:
            choices.ask_label([*found.events, *found.times, label], rest, where)
        of = f"{some(found.times, 3)} and {some(found.events, 3)}"
        hint = f"{of} may tell how long each row was followed, and whether an event came. They are inputs: set label_column to predict one of them."
        return [("follow_up", [], hint)]
    left = [n for n in (*found.times, *found.events) if n != label]
    for name in left:
        rest.pop(name)
    what = f"The column{'s' * (len(left) > 1)} {some(left, 6)} {'are' if len(left) > 1 else 'is'} not read"
    why = f"what became of a row, and when, is known together with {label}, not before"
    do = "" if found.sure else " If it is known before, name the columns to read in columns."
    return [("follow_up", left, f"{what}: {why}.{do}")]


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


def _may_be_followed(time: str, event: str, p: Profile, tables: list[Table]) -> bool:
    """Whether a time may be how long rows were followed until an event: not below 0, not growing from row to row as a logger writes it, and
    the event does not follow from it, as a time-out does."""
    followed: list[tuple[float, str]] = []
    in_order = True
    for table in tables:
        step = -(-len(table.rows) // _LOOK) or 1
        cells, ends = (table.cells(name)[::step] for name in (time, event))
        own = [(float(n), values.label(e)) for n, e in zip(values.as_numbers(cells, p.style), ends, strict=True) if n]
        followed += [(n, e) for n, e in own if e]
        in_order = in_order and all(a <= b for (a, _), (b, _) in itertools.pairwise(own))
    if in_order or not followed or min(n for n, _ in followed) < 0:
        return False
    by_time = [e for _, e in sorted(followed, key=lambda row: row[0])]
    changes, rows = sum(a != b for a, b in itertools.pairwise(by_time)), len(by_time)
    by_chance = rows - sum(by_time.count(e) ** 2 for e in set(by_time)) / rows
    return changes > max(len(set(by_time)) - 1, _RULED * by_chance)
