"""The comparison of new rows with the profile of a training: tests whose false alarms are bounded together, and marks for single rows."""

import collections
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy

from trainer.errors import count, one_line, some
from trainer.shift.profile import CategoryProfile, NumberProfile, Profile, WordProfile
from trainer.shift.traits import CHARACTERS, Categories, Numbers, Trait, Words

ALARMS = 0.01  # probability of any false alarm, over all tests of a prediction
FEWEST = 20  # rows on each side: with fewer, nothing is tested
_SMALLEST = 0.05  # difference of two distributions that is worth a word, as a share of the rows
_MARGIN = 0.1  # of the range: a single number within it is not marked
_EXPECTED = 5  # rows in a category, below which categories are counted together


@dataclass(frozen=True)
class Finding:
    """A difference: ``said`` continues a sentence; ``training`` and ``new`` are the two figures; ``p`` is that of the test, before the number of
    tests counts."""

    name: str
    said: str
    training: str
    new: str
    p: float


@dataclass(frozen=True)
class Comparison:
    """``findings`` are what differs beyond chance. ``marks`` names, for each new row, the traits in which it is unlike every training row."""

    rows: int
    traits: int
    tests: int
    findings: list[Finding]
    marks: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def marked(self) -> int:
        return sum(map(bool, self.marks))


def compare(profiles: Sequence[Profile], traits: Sequence[Trait]) -> Comparison:
    """Compare the traits of new rows with the profiles of the same names. Traits without a profile are left alone."""
    known = {_key(p): p for p in profiles}
    pairs = [(known[_key(t)], t) for t in traits if _key(t) in known]
    rows = max((len(t.values) for t in traits), default=0)
    marks: list[tuple[str, ...]] = [()] * rows
    tested: list[Finding] = []
    for profile, trait in pairs:
        new, unlike = _compared(profile, trait)
        tested += new
        if len(unlike) == rows:
            for row in numpy.flatnonzero(unlike):
                marks[row] += (profile.name,)
    found = [f for f in tested if f.said and f.p * len(tested) < ALARMS]
    return Comparison(rows, len(pairs), len(tested), sorted(found, key=lambda f: f.p), marks)


def _key(described: Profile | Trait) -> tuple[str, bool]:
    """A column of a table may be called like an answer."""
    return described.name, getattr(described, "answer", False)


def _compared(profile: Profile, trait: Trait) -> tuple[list[Finding], numpy.ndarray]:
    """The tests of one trait, without words where the difference is small; and which rows are unlike every training row."""
    nothing = numpy.zeros(0, bool)
    if isinstance(profile, WordProfile):
        if not isinstance(trait, Words):
            return [], nothing
        return _of_words(profile, profile.of(trait)), nothing
    if isinstance(profile, NumberProfile):
        return _of_numbers(profile, trait) if isinstance(trait, Numbers) else ([], nothing)
    return _of_categories(profile, trait) if isinstance(trait, Categories) else ([], nothing)


def _of_numbers(profile: NumberProfile, trait: Numbers) -> tuple[list[Finding], numpy.ndarray]:
    values = trait.values
    there = values[numpy.isfinite(values)]
    margin = 0 if trait.answer else _MARGIN * (profile.high - profile.low)
    unlike = (values < profile.low - margin) | (values > profile.high + margin)
    if profile.rows < FEWEST or len(values) < FEWEST:
        return [], unlike & (not trait.answer)
    tests = [_missing(profile, len(values) - len(there), len(values))]
    known = profile.rows - profile.missing
    if known >= FEWEST and len(there) >= FEWEST:
        tests.append(_distribution(profile, trait, there))
        if not trait.answer:
            tests.append(_range(profile, there, known))
    return tests, unlike & (not trait.answer)


def _distribution(profile: NumberProfile, trait: Numbers, there: numpy.ndarray) -> Finding:
    """Kolmogorov and Smirnov's test."""
    from scipy.stats import ks_2samp

    before = numpy.asarray(profile.values)
    result = ks_2samp(before, there, method="asymp", alternative="less" if trait.falls else "two-sided")
    old, new = (numpy.quantile(v, (0.25, 0.5, 0.75)) for v in (before, there))
    training, now = (f"median {m:.4g}, middle half {a:.4g} to {b:.4g}" for a, m, b in (old, new))
    said = ""
    if result.statistic >= _SMALLEST:
        before_half, new_half = (f"{a:.4g} to {b:.4g}" for a, _, b in (old, new))
        if abs(new[1] - old[1]) > 0.2 * max(old[2] - old[0], new[2] - new[0]):
            said = f"{_named(profile)} is {'larger' if new[1] > old[1] else 'smaller'}: its median is {new[1]:.4g}, in the training {old[1]:.4g}"
        elif new_half != before_half:
            said = f"{_named(profile)} is spread in another way: the middle half is {new_half}, in the training {before_half}"
    return Finding(profile.name, said, training, now, float(result.pvalue))


def _range(profile: NumberProfile, there: numpy.ndarray, known: int) -> Finding:
    """How many rows lie beyond the ends of the training, which of equal rows few do."""
    beyond = int(((there < profile.low) | (there > profile.high)).sum())
    ends = f"{profile.low:.4g} to {profile.high:.4g}"
    said = f"{count(beyond, 'row')} {_has(beyond)} a value of {_named(profile)} outside of {ends}, the range of the training"
    return Finding(profile.name, said, ends, f"{there.min():.4g} to {there.max():.4g}", _more_than(beyond, len(there), 2, known - 1))


def _missing(profile: NumberProfile | CategoryProfile, missing: int, rows: int) -> Finding:
    before, now = profile.missing / profile.rows, missing / rows
    said = f"{now:.0%} of {_named(profile)} is empty, in the training {before:.0%}" if now - before >= _SMALLEST else ""
    p = _more_than(missing, rows, profile.missing + 1, profile.rows - profile.missing + 1)
    return Finding(profile.name, said, f"{before:.1%} empty", f"{now:.1%} empty", p)


def _more_than(seen: int, rows: int, once: float, other: float) -> float:
    """The probability of at least ``seen`` among ``rows``, where the training had one in the ratio of ``once`` to ``other``."""
    from scipy.stats import betabinom

    return float(betabinom.sf(seen - 1, rows, once, max(1, other))) if seen else 1.0


def _of_categories(profile: CategoryProfile, trait: Categories) -> tuple[list[Finding], numpy.ndarray]:
    values = [v[:CHARACTERS] for v in trait.values]
    new = numpy.asarray([bool(v) and v not in profile.counts for v in values], bool)
    unlike = new & profile.whole & (not trait.answer)
    if profile.rows < FEWEST or len(values) < FEWEST:
        return [], unlike
    counted = collections.Counter(v for v in values if v)
    tests = [_missing(profile, len(values) - counted.total(), len(values))]
    if profile.whole and not trait.answer:
        tests.append(_unseen(profile, counted, int(new.sum()), len(values)))
    return [*tests, _shares(profile, counted)], unlike


def _unseen(profile: CategoryProfile, counted: collections.Counter, rows: int, total: int) -> Finding:
    """Rows whose category no training row has. Of equal rows about as many do as training rows have one of their own (Good and Turing)."""
    fresh = [c for c, _ in counted.most_common() if c not in profile.counts]
    said = f"{count(rows, 'row')} {_has(rows)} a value of {_named(profile)} that the model never saw: {some(fresh, 3)}"
    p = _more_than(rows, total, profile.once + 1, profile.rows - profile.once + 1)
    return Finding(profile.name, said, f"{len(profile.counts)} categories", f"{len(fresh)} new ones", p)


def _shares(profile: CategoryProfile, counted: collections.Counter) -> Finding:
    """The chi-squared test of the categories. Rare ones are counted together, with those that only one side has: which these are is chance."""
    from scipy.stats import chi2_contingency

    names = list(profile.counts)
    both = numpy.asarray([[profile.counts[n] for n in names], [counted[n] for n in names]], numpy.float64)
    sums = numpy.asarray([profile.rows - profile.missing, counted.total()], numpy.float64)
    frequent = both.sum(axis=0) * sums.min() / max(1, sums.sum()) >= _EXPECTED
    if not sums.all() or not frequent.any():
        return Finding(profile.name, "", "", "", 1.0)
    kept = both[:, frequent]
    table = numpy.column_stack([kept, sums - kept.sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    p = float(chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0
    shares = table / sums[:, None]
    apart = numpy.abs(shares[1] - shares[0])
    most = int(apart[: kept.shape[1]].argmax())
    name = [n for n, f in zip(names, frequent) if f][most]
    old, new = (f"{shares[k, most]:.0%} {name}" for k in (0, 1))
    said = f"{_named(profile)} has other shares: {new}, in the training {shares[0, most]:.0%}" if apart.sum() / 2 >= _SMALLEST else ""
    return Finding(profile.name, said, old, new, p)


def _of_words(profile: WordProfile, share: Numbers) -> list[Finding]:
    tests, _ = _of_numbers(profile.unknown, share)
    found = []
    for test in tests:
        old, new = numpy.mean(profile.unknown.values), numpy.nanmean(share.values) if numpy.isfinite(share.values).any() else 0.0
        said = f"{new:.0%} of the words of {_named(profile)} are unknown, in the training {old:.0%}" if test.said and new > old else ""
        found.append(Finding(profile.name, said, f"{old:.1%} unknown words", f"{new:.1%}", test.p))
    return found


def _named(profile: Profile) -> str:
    return one_line(profile.name, 60)


def _has(rows: int) -> str:
    return "has" if rows == 1 else "have"
