"""The training on examples, from the dataset to the results: candidates, the choice among them, and what is delivered."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass

from trainer import export
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core import mapped
from trainer.core.example import Dataset
from trainer.core.plan import Plan
from trainer.data.checks import Checks
from trainer.errors import UserError, count, some
from trainer.launch.outcome import Outcome
from trainer.models import catalogue
from trainer.models.catalogue import Base
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.run_folder.lease import LeaseLost
from trainer.search import space
from trainer.training import candidates, comparing
from trainer.training.workers import Workers


@dataclass
class Run:
    """What a training is carried out with. ``began`` is the monotonic time of its start; ``begun`` says that it has checkpoints of a network."""

    spec: Spec
    settings: Settings
    events: Events
    checks: Checks
    workers: Workers
    began: float
    begun: bool


def carry_out(run: Run, dataset: Dataset) -> None:
    """Train on ``dataset`` and write the results. Raises UserError for what only the user can fix."""
    from trainer.training import prepare, search_setup as setup

    spec, settings, events, workers = run.spec, run.settings, run.events, run.workers
    stop.check(spec.folder)
    wanted = candidates.choose(spec.models, settings, dataset.kind, dataset.task, run.begun)
    wanted = candidates.suited(wanted, dataset)
    searches = space.is_wanted(settings)
    if searches:
        wanted = setup.with_network(wanted, dataset.kind, dataset.task)
    settings = workers.request(settings, wanted.network, dataset.kind)
    on_gpu = wanted.network is not None and workers.launcher.on_gpu
    prepared = prepare.make(spec, settings, dataset, wanted, events, on_gpu)
    own: dict = {}
    if searches:
        prepared, own = setup.make(spec, prepared.plan.settings, dataset, prepared, events, workers.launcher.on_gpu)
    settings = prepared.plan.settings
    if settings.dry_run:
        trial = workers.launcher.estimate(prepared.plan) if wanted.network else candidates.trial(prepared.plan, dataset)
        export.check(run, settings, dataset, prepared, trial)
        return
    found, wanted = _candidates(workers, prepared.plan, dataset, wanted, events)
    _deliver(run, settings, dataset, prepared, found, wanted, own)


def _candidates(workers: Workers, plan: Plan, dataset, wanted, events: Events):
    """Train all candidates: the estimators here while the workers import, then the network. Gives them, and what is left of ``wanted``
    if the network could not be trained."""
    if wanted.network is None:
        events.decision(
            "estimate",
            (seconds := round(candidates.estimate(plan, dataset), 1)),
            f"The training takes about {count(max(1, round(seconds)), 'second')} on one CPU.",
        )
        events.phase("train", f"Training {some(wanted.estimators)} on {count(len(dataset.splits['train']), 'row')}.")
    asked = wanted.estimators
    found, wanted = candidates.fit_all(wanted, plan, dataset)
    if late := asked[len(wanted.estimators) :]:
        minutes = count(plan.settings.max_minutes, "minute")
        events.warning("time_limit", f"The {minutes} of max_minutes were over before {some(late)} began. The best of the other models is delivered.")
    if wanted.network is None:
        for candidate in found:
            events.eval(0, 0, "validation", plan.target.summary(candidate.outcome.answers["validation"]), model=candidate.base.name)
        events.phase("test", "Measuring the model on data that it has not seen.")
        events.resource("cpu", 1, threads=1)
        return found, wanted
    try:
        outcome = workers.train(plan)
    except UserError as e:
        if wanted.named or not found:
            raise
        events.warning("candidate_failed", f"{wanted.network.name} could not be trained, so {found[0].base.name} is delivered. {e.what}")
        return found, candidates.without(wanted, e)
    network = candidates.trained(wanted.network, outcome, plan.target)
    found += [network, *candidates.as_it_is(wanted.network, outcome)]
    if not wanted.named and plan.search is None:
        found += plan.kind.combine(network, found, plan)
    return found, wanted


def _deliver(run: Run, settings, dataset, prepared, found, wanted, own: dict) -> None:
    """Choose the best candidate, and write the results. ``own`` has what was prepared for the trials of a search with another base model."""
    from trainer.training import baseline, imitated, more_rows, prepare, search_conclusion as conclude, unseen, weighed

    workers, events = run.workers, run.events
    compared = comparing.Comparison(found, wanted, prepared.plan)
    best = compared.best()
    search = None
    if prepared.plan.search is not None and (concluded := conclude.conclude(settings, prepared, own, found, best, events)):
        settings, prepared, found, best, search = concluded.settings, concluded.prepared, concluded.found, concluded.best, concluded.document
        compared = comparing.Comparison(found, wanted, prepared.plan)
    listed = compared.entries(best) if prepared.plan.kind.lists_candidates else None
    if len(found) > 1:
        events.decision("chosen", best.base.name, f"The model {best.name} is delivered. {listed[0]['why']}")
    if best.decided:
        events.decision("classes", best.base.name, best.decided)
    # A named model would be delivered alone by a repeated run.
    delivered = catalogue.AUTO if best.beside is not None else candidates.repeats(best.base, prepared.plan.kind)
    if settings.model != delivered:
        settings = settings.with_chosen(model=delivered)
    events.phase("export", "Writing the model, the metrics and the predictions.")
    simple = baseline.compute(prepared, dataset, {c.base.name: c.fitted for c in found if c.fitted is not None})
    outcome = best.outcome
    if best.fitted is None:
        _to_onnx(workers.launcher, outcome, prepare.delivering(prepared, best).plan, events)
    if best.beside is not None:
        best.beside.save(outcome.saved)
    outcome.champion, settings = _champions_answers(settings, found, prepared, dataset, workers)
    count_of_workers = workers.launcher.workers if workers.launcher and best.fitted is None else 1
    held_out = candidates.held_out_answers(best, prepared.plan)
    delivering = prepare.delivering(prepared, best)
    looked = _unless_it_fails("Which labels are probably wrong", lambda: unseen.rows(best, found, prepared, dataset), events)
    relied = _unless_it_fails("What the model relies on", lambda: weighed.sections(best, prepared, dataset, run.began), events)
    split = _unless_it_fails("What the split imitates", lambda: imitated.sections(best, prepared, dataset, run.checks), events)
    findings = export.Findings(listed, search, held_out, looked, [*more_rows.sections([c.fitted for c in found]), *split, *relied])
    export.training(run, settings, dataset, delivering, outcome, simple, count_of_workers, findings)


def _to_onnx(launcher, outcome: Outcome, plan: Plan, events: Events) -> None:
    """Let a worker add model.onnx to the delivered network."""
    from trainer.models import onnx

    if not plan.kind.exports_onnx:
        return
    if why := launcher.to_onnx(outcome.saved, plan.kind, plan.target, onnx.sample(plan.splits["test"])):
        text = f"There is no model.onnx: {why}. Single answers in the studio need one; predictions for datasets do not."
        events.warning("no_onnx", text)


def _champions_answers(settings: Settings, found: list, prepared, dataset, workers: Workers):
    """The predictions of the champion on the test rows: of an estimator here, of a network by a worker, which may have measured it beside
    the training; None if they cannot be compared. Also the settings, with the number of workers where one was needed."""
    from trainer.training import prepare

    champion = prepared.plan.champion
    if champion is None or champion.rows is None:
        return prepare.champions_answers(champion, dataset, prepared.plan.models), settings
    answers = next((c.outcome.champion for c in found if c.outcome.champion), None)
    if answers is None:
        settings = workers.request(settings, Base(champion.folder.name, champion.kind.name, champion.folder, fresh=False), champion.kind)
        outputs, _ = workers.launcher.predict(champion)
        answers = champion.target.answers(outputs, champion.rows.example_targets())
    beside = champion.kind.load_beside(champion.folder)
    if beside is None:
        return answers, settings
    return champion.target.answers(beside.outputs(answers.probabilities, dataset.splits["test"]), answers.truth), settings


def _unless_it_fails(what: str, find: Callable[[], list], events: Events) -> list:
    """What ``find()`` gives, or nothing and a warning where it fails: a trained model is delivered without what would only be said about it."""
    try:
        return find()
    except LeaseLost:
        raise
    except Exception as e:
        traceback.print_exc()  # for the log
        events.warning("not_measured", f"{what} could not be found out ({type(e).__name__}: {e}). The model and its scores do not depend on it.")
        return []
    finally:
        mapped.rest()  # a few rows from all over: nearly the whole file was read
