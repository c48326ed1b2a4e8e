"""The search in its worker: trial after trial in one warm process, rung after rung.

Each trial is a training with checkpoints of its own. At a rung it saves its position and is built again from there if it goes on, so
that a search that is killed and started again ends with the same winner and the same weights.
"""

import hashlib
import json
import math
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from trainer.core.plan import CHECKPOINTS, Plan
from trainer.errors import UserError, count
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.search import schedule, trials
from trainer.search.cost import Costs, stops
from trainer.search.reporter import TrialReporter
from trainer.search.schedule import Rung
from trainer.search.trials import BEGUN, DROPPED, KEPT, WAITING, Trial
from trainer.train import loop
from trainer.train.estimate import spelled
from trainer.train.loop import STOPPED, TIME_LIMIT, Context, Trained, Training

BEGIN_SHARE = 0.6  # of the time limit, after which no trial is begun


@dataclass
class Found:
    """The result of a search: the trained default and the best other trial with its plan. ``table`` describes every trial.

    One of the two may be missing, because it diverged or was not begun.
    """

    default: Trained | None
    best: Trained | None
    plan: Plan | None  # of ``best``
    trial: Trial | None
    table: list[dict]
    histories: dict[int, list[dict]]
    ended: str
    seconds: float
    trainings: float  # the work of all trials, counted


def run(ctx: Context, plan: Plan, events: Events) -> Found:
    """Carry out the search of ``plan`` with a single worker.

    Raises UserError if there are no validation rows, if all trials diverged, or if the run is stopped before the first step.
    """
    if not len(plan.splits["validation"]):
        raise UserError("no_validation_rows", "There are no validation rows to choose by.", "Set data.validation_fraction.")
    return Runner(ctx, plan, events).run()


class Runner:
    """The state of one search on its worker."""

    def __init__(self, ctx: Context, plan: Plan, events: Events):
        self.ctx, self.plan, self.events, self.search = ctx, plan, events, plan.search
        self.folder, self.trials = Path(plan.folder), {t.number: t for t in plan.search.trials}
        self.digest = hashlib.sha256(json.dumps([plan.digest, plan.search.digest]).encode()).hexdigest()
        self.state = trials.load(self.folder, plan.search, self.digest)
        self.began, self.before = time.monotonic(), self.state.spent
        self.rung, self.running = 0, 0.0
        self.costs = Costs(plan)
        self.error: UserError | None = None

    def run(self) -> Found:
        (self.folder / CHECKPOINTS).mkdir(exist_ok=True)
        self.events.phase("train", f"Searching with {count(len(self.trials), 'trial')}: the default settings first.")
        with stop.pausable(Path(self.plan.work)):
            self._default()
            rung: Rung | None = schedule.first([n for n in self.trials if n])
            while rung is not None and not self.state.ended:
                self._carry_out(rung)
                rung = None if self.state.ended else self._next(rung)
        return self._finished()

    # The trials.

    def _default(self) -> None:
        """Train with the default settings to the end."""
        self.rung = 0
        self._train(0, None, rung=1)
        record = self.state.records[0]
        record.state = KEPT if math.isfinite(record.loss) else record.state
        self.state.length = record.epochs if math.isfinite(record.loss) else float(self.plan.settings.epochs)
        self.save()

    def _carry_out(self, rung: Rung) -> None:
        self.rung = rung.number
        for number in rung.trials:
            record = self.state.records[number]
            if rung.number == 1 and record.state == WAITING and (self._closed() or not self._fits(number)):
                continue
            until = None if rung.number > schedule.RUNGS else schedule.until(rung.share, self._end(number) * stops(self._planned(number)))
            self._train(number, until, rung.number)
            if self.state.ended:
                return

    def _next(self, rung: Rung) -> Rung | None:
        """The next rung. The trials that do not go on lose their checkpoints."""
        losses = {n: self.state.records[n].loss_at(rung.number) for n in rung.trials if self.state.records[n].state != WAITING}
        following = schedule.following(Rung(rung.number, rung.share, tuple(losses)), losses)
        if following is None:
            return None
        for number in losses:
            self._settle(number, KEPT if number in following.trials else DROPPED)
        self.save()
        return following

    def _settle(self, number: int, state: str) -> None:
        record = self.state.records[number]
        if record.state in (state, DROPPED, trials.DIVERGED):
            return
        record.state = state
        if state == DROPPED:
            self.events.lease.remove(self.folder / self._place(number))
        self._report(number, state)

    def _train(self, number: int, until: int | None, rung: int) -> None:
        """Train a trial until it has made that many evaluations, or to its end. Does nothing if that was done before."""
        record = self.state.records[number]
        if len(record.losses) >= rung or record.state in (DROPPED, trials.DIVERGED) or self.state.ended:
            return
        if record.state == WAITING:
            record.state = BEGUN
            self.save()
        training = self._training(number)
        training.resume()
        if not training.at.step:
            record.history.clear()
        training.used = self._spent() - training.before
        if number == 0:
            training.check_not_stopped()
            if not training.at.step:
                self._estimate(training)
        try:
            stopped = training.run(until)
        except UserError as e:
            if e.code != loop.DIVERGED:
                raise
            self.error, stopped = e, loop.DIVERGED
        except torch.OutOfMemoryError:
            if number == 0:
                raise
            stopped = loop.DIVERGED
        self._measured(number, training, stopped)

    def _measured(self, number: int, training: Training, stopped: str) -> None:
        """Record what a rung of a trial has shown."""
        record, at = self.state.records[number], training.at
        kept = number == 0 and at.best_step  # the best model before the divergence
        if stopped == loop.DIVERGED and not kept:
            record.state, record.losses = trials.DIVERGED, [*record.losses, None]
            what = "diverged" if self.error is not None else "did not fit into the memory"
            self.events.warning("trial_dropped", f"Trial {number} {what} and was dropped: {self.trials[number].words()}.")
            self.events.lease.remove(self.folder / self._place(number))
        else:
            if stopped != loop.DIVERGED:
                training.keep()
            record.losses.append(at.best_loss)
            record.value, record.stopped = at.best_value, stopped
        record.epochs, record.seconds = round(at.step / training.per_epoch, 4), round(training.before + time.monotonic() - training.began, 3)
        if stopped in (STOPPED, TIME_LIMIT):
            self.state.ended = stopped
        self.running = 0.0
        training.reporter.close()
        self.save()
        self._report(number, record.state)

    def _training(self, number: int) -> Training:
        plan, record = self._planned(number), self.state.records[number]
        per_epoch = math.ceil(len(plan.splits["train"]) / plan.settings.batch_size)
        reporter = TrialReporter(self, number, record, plan.settings.epochs, per_epoch * plan.settings.epochs)
        return Training(self.ctx, plan, self.events, self._place(number), reporter)

    def _planned(self, number: int) -> Plan:
        return self.trials[number].planned(self.plan, self._end(number))

    def _end(self, number: int) -> float:
        """The epochs after which a trial has done as much work as the default training."""
        return self.state.length * self.costs.share(self.trials[number])

    def _place(self, number: int) -> str:
        return f"{CHECKPOINTS}/trial-{number:02d}"

    # The result.

    def _finished(self) -> Found:
        """The default and the best of the trials that were not dropped, each with its best weights."""
        left = [n for n, r in self.state.records.items() if n and r.state in (BEGUN, KEPT) and math.isfinite(r.loss)]
        best = min(left, key=lambda n: (self.state.records[n].loss, n), default=None)
        default = self._weights(0) if math.isfinite(self.state.records[0].loss) else None
        if default is None and best is None:
            raise self.error or UserError("diverged", "The training diverged with every setting of the search.", "Search smaller learning rates.")
        trained = self._weights(best) if best is not None else None
        plan = self._planned(best) if best is not None else None
        histories = {n: self.state.records[n].history for n in (0, best) if n is not None}
        trial = self.trials[best] if best is not None else None
        table, work = trials.table(self.search, self.state), self.costs.total(self.state, self.search)
        return Found(default, trained, plan, trial, table, histories, self.state.ended, round(self._spent(), 3), work)

    def _weights(self, number: int) -> Trained:
        """A trial with its best weights. Where its checkpoint was damaged, what is lost is trained again."""
        training, record = self._training(number), self.state.records[number]
        training.resume()
        training.run(len(record.history))
        trained = training.finish(record.stopped)
        trained.estimate_seconds, trained.position.resumed = self.state.estimate, self.state.resumed
        return trained

    # The time and the progress.

    def _closed(self) -> bool:
        """Whether no trial may be begun any more."""
        if not self.state.closed and self._spent() > BEGIN_SHARE * self._limit():
            self.state.closed = True
            begun = sum(r.state != WAITING for r in self.state.records.values())
            self.events.warning(
                "search_time", f"{count(begun, 'trial')} of {len(self.trials)} were begun in {BEGIN_SHARE:.0%} of the time limit; no other is begun."
            )
            self.save()
        return self.state.closed

    def _fits(self, number: int) -> bool:
        """Whether the search stays within its budget of work if this trial is begun too."""
        begun = [n for n, r in self.state.records.items() if n and (r.state != WAITING or n == number)]
        rungs = [self.costs.rungs(self.trials[n], self._planned(n), self.state.length) for n in begun]
        budget = schedule.budget(len(self.trials) - 1)
        if self.search.repeats or schedule.most(rungs) <= budget:
            return True
        self.state.closed = True
        text = f"{count(len(begun), 'trial')} of {len(self.trials)} were begun: one more could make the search longer than {budget:.2f} trainings"
        self.events.warning("search_work", f"{text} with the default settings, because a trial needs a whole evaluation.")
        self.save()
        return False

    def _limit(self) -> float:
        """The time limit of the search in seconds."""
        return 60 * min(self.search.minutes or math.inf, self.plan.settings.max_minutes)

    def _spent(self) -> float:
        """Seconds of the search, without the time between a kill and a restart."""
        return self.before + time.monotonic() - self.began

    def _estimate(self, training: Training) -> None:
        """Say how long the search takes, and whether it fits into its time limit."""
        one, others = training.estimated(), len(self.trials) - 1
        whole, limit = one * schedule.work(others), self._limit()
        self.state.estimate = whole
        where = f"{count(1, 'worker')} on {self.ctx.device.type.upper()}"
        self.events.decision("estimate", round(whole, 1), f"{count(1 + others, 'trial')} take about {spelled(whole)} with {where}; most end early.")
        if whole > limit:
            name = "search.minutes" if 60 * self.search.minutes == limit else "max_minutes"
            fit = 1 + min(others, max(0, int((BEGIN_SHARE * limit / one - 1) * schedule.SHARE**schedule.RUNGS)))
            fits = f"{count(fit, 'trial')} {'fit' if fit > 1 else 'fits'}"
            self.events.warning(
                "search_time",
                f"{count(1 + others, 'trial')} would take about {spelled(whole)}; {name} is {limit / 60:g}. {fits}; the search stops there.",
            )

    def progress(self, number: int, epochs: float) -> None:
        """Report a trial that has been trained for so many epochs."""
        self.running = max(0.0, epochs - self.state.records[number].epochs)
        self._report(number, "running")

    def _report(self, number: int, state: str) -> None:
        record, best = self.state.records[number], self._best()
        fraction = self._fraction()
        more: dict = {"eta_seconds": self._spent() * (1 - fraction) / fraction} if fraction > 0.02 else {}
        if math.isfinite(record.loss):
            more |= {"loss": record.loss, "value": record.value}
        if best is not None:
            more |= {"best_trial": best, "best_value": self.state.records[best].value, "best_settings": self.trials[best].words()}
        self.events.trial(
            number, len(self.trials), state, fraction, rung=self.rung, metric=self.plan.metric, settings=self.trials[number].words(), **more
        )

    def _best(self) -> int | None:
        """The trial with the smallest loss so far. Of equal losses the default and then the lower number counts."""
        measured = [n for n, r in self.state.records.items() if math.isfinite(r.loss)]
        return min(measured, key=lambda n: (self.state.records[n].loss, n), default=None)

    def _fraction(self) -> float:
        """The share of the search that is done, in epochs."""
        length = self.state.length or self.plan.settings.epochs
        begun = [r for n, r in self.state.records.items() if n and (r.state != WAITING or not self.state.closed)]
        done = sum(r.epochs for r in self.state.records.values()) + self.running
        return min(1.0, done / (length * schedule.work(len(begun))))

    def save(self) -> None:
        self.state.spent = self._spent()
        self.state.save(self.folder, self.digest, self.events.lease)
