"""What the split of a training imitates, for the report: the sentence, and what the score would be if rows that belong together were held out
together, or at random where they were."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy

from trainer.core import blocks, columnar, drawn
from trainer.core.blocks import NUMBER, RESULT, Cell, Column, Section
from trainer.core.example import SPLITS, Dataset
from trainer.core.likened import Likened
from trainer.core.one_split import OneSplit
from trainer.data import ordered
from trainer.data.checks import Checks
from trainer.data.cut import GIVEN, TITLE, Cut
from trainer.measure import linear, other_split
from trainer.measure.label_sets import LabelSets
from trainer.measure.other_split import Compared
from trainer.measure.predictions import Predictions
from trainer.training.candidates import Candidate

if TYPE_CHECKING:
    from trainer.training.prepare import Prepared

CODE = "split_flatters"
_ROWS = 1000  # that are looked at for a way in which rows belong together
_OF_GROUP = 20  # rows of a group that are looked at, where there are many
_SOME = 0.5  # share of the test rows that share something with training rows, for a warning
_KNOWN = 0.9  # share of the test rows that share what they share with training rows, for the sentence to say so
_READ = 200_000  # examples, of which some are looked at for this
_MANY = "What the score would be under another split is not measured above {most:,} {things}."
_HOW = (
    "Both scores are those of a small model that is fitted only for this, in {folds} parts of up to {rows} rows, so compare them with each other "
    "and not with the scores of the delivered model."
)


@dataclass(frozen=True)
class _Way:
    """``name`` is what rows share; for ``times`` the marks are numbers that grow with time. The marks are of the examples of all splits, one
    after another; empty or NaN for none."""

    name: str
    marks: Sequence[Any]
    times: bool = False
    why: str = ""
    do: str = ""
    sure: bool = False
    said: bool = False


def sections(best: Candidate, prepared: "Prepared", data: Dataset, checks: Checks) -> list[Section]:
    """The section of the report; none without test rows. It warns where a split at random flatters, and nothing has said so."""
    if not len(data.splits["test"]):
        return []
    plan, cut, things = prepared.plan, checks.cut, prepared.plan.kind.things
    target, answers = best.target or plan.target, best.outcome.answers["test"]
    found, known = [], ""
    warned = any(c["code"] == ordered.AGAIN for c in checks.entries)
    small = sum(len(part) for part in data.splits.values()) <= _READ
    if small and isinstance(answers, Predictions | LabelSets) and not isinstance(plan.kind, OneSplit):
        for way in _ways(cut, data, plan.settings, warned)[:2]:
            shared, share = _shared(way, cut, data, things)
            known = known or (way.name if way.sure and not way.times and share >= _KNOWN else "")
            compared = _compared(way, prepared, data)
            found.append((way, shared, None if compared is None else _scores(compared[0], compared[1], target, plan.metric, data)))
            if compared is not None and compared[0].falls and way.sure and not way.said and _flatters(way, share, cut):
                _warn(way, found[-1][2], target.metrics[plan.metric].title, things, checks)
    inside = [blocks.text(cut.imitates(things, known), *_not_measured(plan.kind, small))]
    if found:
        inside += _blocks(found, target.metrics[plan.metric].title, cut, things)
    return [Section(RESULT, TITLE, inside)]


def _not_measured(kind: Any, small: bool) -> list[str]:
    """Why there is no score under another split; nothing where it was looked for."""
    if isinstance(kind, OneSplit):
        return [kind.why_one_split]
    return [] if small else [_MANY.format(most=_READ, things=kind.things)]


def _flatters(way: _Way, share: float, cut: Cut) -> bool:
    """Whether test rows are like training rows in this way: of given splits by time nobody knows."""
    return cut.by == ordered.RANDOM if way.times else share >= _SOME and cut.by in (ordered.RANDOM, GIVEN)


def _ways(cut: Cut, data: Dataset, settings: Any, warned: bool) -> list[_Way]:
    parts = [data.splits[n] for n in SPLITS]
    if cut.by == ordered.GROUP:
        return [_Way(settings.group_column or cut.new, [g for rows in parts for g in columnar.groups(rows)])]
    ways = []
    if data.together:
        keys = [key for rows in parts for key in zip(columnar.files(rows), columnar.rows(rows).tolist(), strict=True)]
        ways = [_Way(t.name, [t.of.get(key, "") for key in keys], False, t.why, t.do, t.tells, t.said) for t in data.together]
    whens = numpy.concatenate([columnar.whens(rows) for rows in parts])
    if len(numpy.unique(whens[~numpy.isnan(whens)])) >= other_split.FEWEST // 2:
        ways.append(_Way("time", whens.tolist(), True, "", "set data.split to time", sure=True, said=warned))
    return ways


def _shared(way: _Way, cut: Cut, data: Dataset, things: str) -> tuple[str, float]:
    """How many test examples share something with training examples, in a sentence, and as a share of them."""
    if way.times or cut.by == ordered.GROUP:
        return "", 0.0
    trained, tested = len(data.splits["train"]), len(data.splits["test"])
    there, held = set(way.marks[:trained]) - {""}, [m for m in way.marks[-tested:] if m]
    known = sum(m in there for m in held)
    if not held:
        return "", 0.0
    return f"{known} of {len(held)} test {things} share their {way.name} with training {things} ({way.why})", known / tested


def _compared(way: _Way, prepared: "Prepared", data: Dataset) -> tuple[Compared, numpy.ndarray] | None:
    """The comparison, and the encoded targets of its rows; None where it cannot be made."""
    plan = prepared.plan
    rows = _chosen(way, plan.settings.seed)
    features = _features(rows, prepared, data) if len(rows) >= other_split.FEWEST else None
    if features is None:
        return None
    sizes = numpy.cumsum([0, *(len(data.splits[n]) for n in SPLITS)])
    texts = [t for n in SPLITS for t in columnar.targets(data.splits[n])]
    truth = plan.target.encode([texts[i] for i in rows])
    known = plan.target.known(truth)
    if features.shape[0] != len(rows) or sizes[-1] != len(way.marks) or not known.all():
        return None
    wanted = truth if data.separator or not plan.target.labels else numpy.eye(len(plan.target.labels))[truth]
    if way.times:
        compared = other_split.by_time(features, wanted.astype(float), numpy.asarray(way.marks)[rows], plan.settings.seed)
    else:
        codes = numpy.unique([way.marks[i] for i in rows], return_inverse=True)[1]
        compared = other_split.by_groups(features, wanted.astype(float), codes, plan.settings.seed)
    return None if compared is None else (compared, truth[compared.rows])


def _chosen(way: _Way, seed: int) -> numpy.ndarray:
    """The places of up to ``_ROWS`` examples: whole groups, of large ones a part."""
    chance = numpy.random.default_rng(seed)
    if way.times:
        known = numpy.flatnonzero(~numpy.isnan(numpy.asarray(way.marks, float)))
        return drawn.rows(known, _ROWS, chance)
    marked = numpy.asarray([i for i, m in enumerate(way.marks) if m], numpy.int64)
    if not len(marked):
        return marked
    codes = numpy.unique([way.marks[i] for i in marked], return_inverse=True)[1]
    order = chance.permutation(len(marked))
    place = chance.permutation(int(codes.max()) + 1)  # of each group, in a random order
    order = order[numpy.argsort(place[codes[order]], kind="stable")]
    ordered_codes = codes[order]
    starts = numpy.flatnonzero(numpy.diff(ordered_codes, prepend=-1))
    within = numpy.arange(len(order)) - numpy.repeat(starts, numpy.diff([*starts, len(order)]))
    most = max(_OF_GROUP, _ROWS // len(starts))
    return numpy.sort(marked[order[within < most][:_ROWS]])


def _features(rows: numpy.ndarray, prepared: "Prepared", data: Dataset) -> Any:
    """What a small model reads of the examples at these places: how they look, or else what the linear model of their kind reads; None where this
    kind has nothing."""
    plan = prepared.plan
    starts = numpy.cumsum([0, *(len(data.splits[n]) for n in SPLITS)])
    kept = {n: rows[(rows >= a) & (rows < b)] - a for n, a, b in zip(SPLITS, starts, starts[1:], strict=False)}
    fewer = replace(data, splits={n: columnar.taken(data.splits[n], kept[n]) for n in SPLITS})
    if isinstance(plan.kind, Likened):
        looks = plan.kind.looks([e for n in SPLITS for e in fewer.splits[n]])
        if looks is not None:
            return looks
    read = plan.kind.linear_features(prepared.encoder, fewer, plan.splits, linear.max_width(len(plan.target.labels)))
    if read is None:
        return None
    # Some kinds read the examples, which are those of these places, and others all rows as they were encoded.
    parts = [read.features[n] if read.features[n].shape[0] == len(kept[n]) else read.features[n][kept[n]] for n in SPLITS]
    if isinstance(parts[0], numpy.ndarray):
        return numpy.concatenate(parts)
    from scipy import sparse

    return sparse.vstack(parts, format="csr")


def _scores(compared: Compared, truth: numpy.ndarray, target: Any, metric: str, data: Dataset) -> tuple[float, float]:
    """The score at random and the other one."""
    found = []
    for outputs in (compared.random, compared.other):
        if data.separator:
            said = numpy.hstack([outputs, outputs > 0.5])
        elif target.labels:
            said = (outputs + 1e-6) / (outputs + 1e-6).sum(axis=1, keepdims=True)
        else:
            said = outputs
        found.append(float(target.summary(target.answers(said, truth)).get(metric, numpy.nan)))
    return found[0], found[1]


def _warn(way: _Way, scores: tuple[float, float], metric: str, things: str, checks: Checks) -> None:
    if way.times:
        shared, held, new = f"The test {things} are from the same time as the training {things}", f"the latest {things} held out", f"later {things}"
    else:
        shared, held = f"The test {things} share their {way.name} with training {things}", f"each {way.name} held out as a whole"
        new = f"a new {way.name}"
    checks.warning(
        CODE,
        f"{shared}, and a small model is clearly worse without that: its {metric} is {scores[0]:.3g} with {things} held out at random and "
        f"{scores[1]:.3g} with {held}. The scores of the test are too good if the model is to answer for {new}. To measure that, {way.do}.",
    )


def _blocks(found: list, metric: str, cut: Cut, things: str) -> list[blocks.Block]:
    inside = [blocks.text(f"{shared}.") for _, shared, _ in found if shared]
    rows: list[list[Cell]] = []
    for way, _, scores in found:
        if scores is None or not numpy.isfinite(scores).all():
            continue
        whole = f"the latest {things}" if way.times else f"{things} of a new {way.name}" if cut.by != ordered.GROUP else f"{things} of new {cut.new}"
        known = f"{things} held out at random, for the same" if rows else f"{things} held out at random"
        rows += [[Cell(known), Cell(value=scores[0])], [Cell(whole), Cell(value=scores[1])]]
    if rows:
        columns = [Column("Held out"), Column(f"{metric[:1].upper()}{metric[1:]} of a small model", NUMBER)]
        inside.append(blocks.table("", columns, rows, note=_HOW.format(folds=other_split.FOLDS, rows=_ROWS)))
    return inside
