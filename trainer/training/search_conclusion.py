"""The driver's part of a search after the training: the choice between the default settings and the best trial, and what the report shows."""

from dataclasses import dataclass, replace

from trainer.config.settings import Settings
from trainer.core.plan import Plan
from trainer.errors import count
from trainer.launch.outcome import Searched
from trainer.run_folder.events import Events
from trainer.search import choice
from trainer.search.trials import WAITING
from trainer.training import candidates, comparing, search_setup as setup
from trainer.training.candidates import Candidate, Wanted
from trainer.training.prepare import Prepared

POINTS = 100  # of a curve


@dataclass(frozen=True)
class Conclusion:
    """The model to deliver: its settings and preparation, the candidates with the trial among them if it is ``best``, and the ``search`` of
    result.json."""

    settings: Settings
    prepared: Prepared
    found: list[Candidate]
    best: Candidate
    document: dict


def conclude(
    settings: Settings, default: Prepared, own: dict[int, Prepared], found: list[Candidate], chosen: Candidate, events: Events
) -> Conclusion | None:
    """Choose between ``chosen``, the candidate that is delivered without a search, and the best trial, by the validation rows.

    ``own`` has what was prepared for trials with another base model. None if the search gave no result.
    """
    network = next((c for c in found if c.outcome.search is not None), None)
    if network is None:
        return None
    searched, plan = network.outcome.search, default.plan
    assert searched is not None
    others = [c for c in found if c is not network]
    if not searched.default:  # the network is that of a trial
        chosen = comparing.Comparison(others, Wanted((), None), plan).best() if others else network
    best = searched.best if searched.default else network.outcome
    prepared = own.get(searched.trial or 0, default)
    trial = None if best is None else candidates.trained(prepared.plan.base, best, prepared.plan.target)
    compared = best is not None and chosen.outcome is not best
    comparison = choice.compare(plan.target, chosen.outcome.answers["validation"], best.answers["validation"]) if compared and best else None
    takes = best is not None and (comparison is None or comparison.better)
    document = _document(settings, plan, network, chosen, best, comparison)
    document |= {"chosen": searched.trial if takes else 0, "why": _why(searched, chosen, comparison, plan)}
    if chosen is not network and not takes:
        document["default_model"] = chosen.base.name
    events.decision("search", document["chosen"], document["why"])
    if chosen is network or takes:
        _replay(searched.histories.get(document["chosen"], []), events)
    if not takes or trial is None or searched.settings is None:
        return Conclusion(settings, default, found, chosen, document)
    prepared = replace(prepared, plan=replace(prepared.plan, settings=searched.settings))
    return Conclusion(searched.settings, prepared, [*others, trial], trial, document)


def _document(settings: Settings, plan: Plan, network: Candidate, chosen: Candidate, best, comparison) -> dict:
    """What the report shows of the trials and of the comparison."""
    searched = network.outcome.search
    assert searched is not None
    begun = {r["number"] for r in searched.table if r["state"] != WAITING}
    document: dict = {
        "trials": searched.table,
        "metric": plan.metric,
        "seconds": searched.seconds,
        "trainings": searched.trainings,
        "curves": [{"number": n, "points": _curve(h)} for n, h in searched.histories.items()],
        "repeat": setup.repeat(plan.search.trials if plan.search else (), begun, settings, network.outcome.learning_rate),
    }
    if searched.ended:
        document["ended"] = searched.ended
    if chosen.outcome is not best:
        document["default_test"] = plan.target.report(chosen.outcome.answers["test"], settings.seed)
    if best is not None:
        document |= {"best": searched.trial, "best_test": plan.target.report(best.answers["test"], settings.seed)}
    if comparison is not None:
        document["comparison"] = comparison.as_json()
        if len(best.answers["test"]):
            document["test_comparison"] = choice.compare(plan.target, chosen.outcome.answers["test"], best.answers["test"]).as_json()
    return document


def _why(searched: Searched, chosen: Candidate, comparison: choice.Comparison | None, plan: Plan) -> str:
    others = sum(r["state"] != WAITING and not r["default"] for r in searched.table)
    words = next((t.words() for t in (plan.search.trials if plan.search else ()) if t.number == searched.trial), "")
    if comparison is not None:
        return choice.why(comparison, searched.trial or 0, others, words, "" if chosen.fitted is None else chosen.base.name)
    if not searched.default:
        return f"Trial {searched.trial} ({words}) is used, because the training with the default settings diverged."
    return (
        f"The default settings are kept: none of {count(others, 'other trial')} gave a model." if others else "Only the default settings were tried."
    )


def _curve(history: list[dict]) -> list[list[float]]:
    """Epoch, training loss and validation loss of at most ``POINTS`` evaluations, the last among them."""
    step = max(1, -(-len(history) // POINTS))
    kept = history[::-1][::step][::-1]
    return [[h["epoch"], h["train_loss"], h["metrics"]["loss"]] for h in kept]


def _replay(history: list[dict], events: Events) -> None:
    """Write the evaluations of the chosen trial as those of a training, for its learning curves."""
    for h in history:
        events.eval(h["epoch"], h["step"], "train", {"loss": h["train_loss"]})
        events.eval(h["epoch"], h["step"], "validation", h["metrics"])
