"""How sure the answers of a delivered model are: what is promised, and what it came to on the test rows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from trainer.config.settings import Settings
from trainer.core import blocks
from trainer.core.blocks import RESULT, Section
from trainer.measure.intervals import of_share
from trainer.run_folder.events import Events
from trainer.targets.promise import Promising, percent

_TITLE = "How sure answers are"
_AVERAGE = (
    "{promised} is an average over {rows}. Among {rows} of one sort, such as those of a rare class or with the largest numbers, it may be less. "
    "It holds for {rows} like those of this dataset, and not for later or other ones that differ."
)
_TWICE = (
    "It was set on {count} held-out {rows}, which the model had not learnt from when it answered them. They also served to choose the model and its "
    "settings, so it may be slightly too small; the test {rows} served for no choice and show what it came to."
)
_BROKEN = (
    "The intervals or possible classes of the answers hold the truth for only {share} of {count} test {of}, and {promised} was promised. The test "
    "{rows} differ from the validation {rows}, for example because they are later or of other groups; expect the same of new {rows}."
)
_Prepared = TypeVar("_Prepared", bound=Any)  # has a plan


def training(
    prepared: _Prepared, answers: Mapping[str, Any], settings: Settings, events: Events, held_out: Any = None
) -> tuple[_Prepared, list[Section]]:
    """``prepared`` with the promise that the answers to the validation rows allow, and its section of the report; as it is, without a section,
    where the target makes none. ``answers`` are those of the delivered model by split; ``held_out`` those to more rows that models like it had not
    seen, if there are any."""
    target = prepared.plan.target
    if not isinstance(target, Promising):
        return prepared, []
    target, said = target.promising(answers["validation"] if held_out is None else held_out, settings.coverage)
    if not said:
        return prepared, []
    events.decision("coverage", settings.coverage if target.promise is not None else 0, said)
    found, unit = replace(prepared, plan=replace(prepared.plan, target=target)), target.promise_of
    if target.promise is None:
        return found, [Section(RESULT, _TITLE, [blocks.text(f"Answers have no interval and no list of what is possible. {said}")])]
    promised, test = percent(target.promise.coverage), answers["test"]
    facts = {"Promised": f"{promised} of {unit.of}", f"On the test {unit.rows}": f"There are no test {unit.rows} that could show it."}
    if len(test) and len((kept := target.kept(test)).inside):
        share, count = float(kept.inside.mean()), f"{len(kept.inside):,}"
        low, high = of_share(kept.inside, kept.rows)
        interval = f"95 % interval {percent(round(low, 3))} to {percent(round(high, 3))}"
        if high < target.promise.coverage:
            told = {"share": percent(round(share, 3)), "count": count, "promised": promised, "of": unit.of, "rows": unit.rows}
            events.warning("coverage", _BROKEN.format(**told))
        counted = count if unit.of == unit.rows else f"{count} {unit.of}"
        facts |= {f"On the test {unit.rows}": f"{percent(round(share, 3))} of {counted} ({interval})", "Size of an answer": kept.size}
    paragraphs = (
        said,
        _TWICE.format(count=f"{target.promise.rows:,}", rows=unit.rows),
        _AVERAGE.format(promised=promised, rows=unit.rows),
    )
    return found, [Section(RESULT, _TITLE, [blocks.facts(facts), blocks.text(*paragraphs)])]
