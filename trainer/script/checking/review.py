"""The look at the code of a script before it starts, as the run shows it: findings as events, and what would fail for certain as an error."""

from collections.abc import Mapping

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.errors import UserError
from trainer.launch import libraries
from trainer.run_folder.events import Events
from trainer.script import reasons, starts, tree as trees
from trainer.script.checking import checks, imports
from trainer.script.checking.checks import BLOCK_HIGH, OFF, REPORT, Finding

SHOWN = 20  # findings in the events; result.json has all
_STRICTNESS = (OFF, REPORT, BLOCK_HIGH)


def policy(allowed: str, wanted: str) -> str:
    """The stricter of what the administrator and the user have chosen."""
    return max(allowed, wanted, key=_STRICTNESS.index) if wanted in _STRICTNESS else allowed


def review(spec: Spec, settings: Settings, code: Mapping[str, str], entry: str, events: Events) -> list[Finding]:
    """Check the Python files ``code`` of the run. Raises UserError: syntax_error, check_blocked, or missing_module."""
    findings, parsed = checks.check(code, entry, policy(spec.script.check, settings.analysis))
    if not (spec.folder / starts.FILE).exists():  # a later start would only repeat them
        for one in findings[:SHOWN]:
            events.finding(one.id, one.file, one.line, one.severity, one.text)
    if parsed is not None:
        absent = imports.missing(parsed, code, trees.paths(spec), entry, spec.script.overlay)
        if libraries.lacking() and any(one.module in libraries.MODULES for one in absent):
            libraries.add(spec.folder, events)
            absent = imports.missing(parsed, code, trees.paths(spec), entry, spec.script.overlay)
        if absent and absent[0].certain:
            raise _missing(absent[0], spec)
    return findings


def _missing(one: imports.Missing, spec: Spec) -> UserError:
    facts = reasons.Facts(one.file, spec.script.limits, resolved=spec.script.resolved)
    return reasons.missing_module(one.module, f" ({one.file}, line {one.line})", facts)
