"""Formulas: whether the number of each row is computed from other columns, as a total is from its items and an index from two measures."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy

from trainer.errors import some

ROWS = 2_000
MOST_COLUMNS, MOST_FACTORS, MOST_PAIRED, MOST_TRIED = 200, 20, 12, 60
FEWEST = 20  # rows, besides three for each column
FILLED = 0.8  # of the cells of a column
FITTING = 0.98  # of the rows, and of those without the most frequent target, are as far off as rounding explains
COARSE, LOOSE = 0.05, 0.02  # of the spread of the target: the largest error that comes from rounding it, and from rounding the inputs as well
SLACK = 1.1  # for weights that are fitted to rounded numbers
EXACT = 1e-7  # of the spread, for what is not rounded
WHOLE = 0.01  # how far a weight may be from a whole number or a share
MOST_TERMS = 6  # that are written out
_MARKS = 12  # decimals that are told apart


@dataclass(frozen=True)
class Formula:
    """``words`` follow "the label is"."""

    words: str
    columns: tuple[str, ...]


@dataclass
class _Table:
    """Rows without gaps. ``steps`` are the units of the last digit of each column, ``step`` that of the target."""

    names: list[str]
    cells: numpy.ndarray
    steps: numpy.ndarray
    target: numpy.ndarray
    step: float

    def of(self, kept: Sequence[int]) -> "_Table":
        return _Table([self.names[i] for i in kept], self.cells[:, kept], self.steps[list(kept)], self.target, self.step)


@dataclass(frozen=True)
class _Form:
    """A sort of formula: weights times terms make the target, or its logarithm. ``error`` is the rounding error of the terms of columns."""

    terms: Callable[[numpy.ndarray], numpy.ndarray]
    error: Callable[[numpy.ndarray, numpy.ndarray], numpy.ndarray]
    logarithm: bool
    words: Callable[[list[str], numpy.ndarray, float], str]
    whole: bool = False  # only weights of 1 make sense


@numpy.errstate(all="ignore")  # what is no number is no formula
def find(columns: Mapping[str, Sequence[str]], targets: Sequence[str]) -> Formula | None:
    """The formula by which ``targets`` follow from ``columns`` of numbers, as far as rounding lets one tell; None where there is none."""
    table = _read(columns, targets)
    if table is None:
        return None
    positive = [i for i in range(len(table.names)) if (table.cells[:, i] > 0).all()]
    counted = [i for i in range(len(table.names)) if _counts(table.cells[:, i])]
    factors = table.of(positive) if 0 < len(positive) <= MOST_FACTORS else None
    tries = [(table, _SUM), (table.of(counted) if len(counted) > 2 else None, _ABOVE_ZERO), (factors, _LOGARITHM)]
    if (table.target > 0).all():
        tries += [(factors, _PRODUCT), (table if len(table.names) <= MOST_FACTORS else None, _POWER)]
    for part, form in tries:
        if part is not None and (found := _fit(part, form)) is not None:
            return found
    return _of_two(table.of(positive)) if 1 < len(positive) <= MOST_PAIRED else None


def _of_two(table: _Table) -> Formula | None:
    """The formula with a ratio of two columns, such as a change in percent, or with their difference by their sum, such as an index of two bands."""
    found = []
    for i, j in itertools.permutations(range(len(table.names)), 2):
        (a, b), (x, y) = (table.names[i], table.names[j]), (table.cells[:, i], table.cells[:, j])
        relative = table.steps[i] / x + table.steps[j] / y
        found.append((f"{a} / {b}", (a, b), x / y, relative * x / y))
        found.append((f"({a} − {b}) / ({a} + {b})", (a, b), (x - y) / (x + y), relative * 2 * x * y / (x + y) ** 2))
    terms = numpy.stack([term for _, _, term, _ in found], axis=1)
    centred, target = terms - terms.mean(axis=0), table.target - table.target.mean()
    near = target @ centred / numpy.maximum(numpy.sqrt((centred**2).sum(axis=0)), 1e-300)
    words, names, term, error = found[int((numpy.abs(near) * (1 + 1e-9 * numpy.sign(near))).argmax())]  # a − b rather than −(b − a)
    one = _fit(_Table([words], term[:, None], numpy.array([numpy.median(error)]), table.target, table.step), _SUM)
    return Formula(one.words, names) if one is not None else None


def _read(columns: Mapping[str, Sequence[str]], targets: Sequence[str]) -> _Table | None:
    """The rows that have all numbers; None where these are too few, or the targets are all the same."""
    if len(columns) > MOST_COLUMNS:
        return None
    every = -(-len(targets) // ROWS)
    target, step = _numbers(targets[::every])
    names, cells, steps = [], [], []
    for name, texts in columns.items():
        numbers, unit = _numbers(texts[::every])
        known = ~numpy.isnan(numbers)
        if known.mean() >= FILLED and numbers[known].std() > 0:
            names.append(name)
            cells.append(numbers)
            steps.append(unit)
    if not names:
        return None
    matrix = numpy.stack(cells, axis=1)
    whole = ~numpy.isnan(matrix).any(axis=1) & ~numpy.isnan(target)
    if whole.sum() < 3 * len(names) + FEWEST or len(numpy.unique(target[whole])) < 3:
        return None
    return _Table(names, matrix[whole], numpy.array(steps), target[whole], step)


def _numbers(texts: Sequence[str]) -> tuple[numpy.ndarray, float]:
    """The texts as numbers, and the unit of the last digit that any of them has."""
    decimals = 0
    for text in texts:
        plain, _, power = text.lower().partition("e")
        digits = len(plain.partition(".")[2].rstrip("0")) - (int(power) if power else 0)
        decimals = max(decimals, min(digits, _MARKS))
    return numpy.array([float(t) if t else numpy.nan for t in texts]), 10.0**-decimals if decimals < _MARKS else 0.0


def _counts(cells: numpy.ndarray) -> bool:
    """Whether a column has counts or shares of which some are zero."""
    return bool((cells >= 0).all() and 0 < (cells == 0).mean() < 1)


def _fit(table: _Table, form: _Form) -> Formula | None:
    """The formula of this form, with as few columns as it needs."""
    fitted = _weights(table, form)
    if fitted is None or not _holds(table, form, *fitted):
        return None
    table, fitted = _fewer(table, form, *fitted)
    weights, constant = _plain(table, form, *fitted)
    if form.whole and not (numpy.abs(weights - 1) <= WHOLE).all():
        return None
    return Formula(form.words(table.names, weights, constant), tuple(table.names))


def _fewer(table: _Table, form: _Form, weights: numpy.ndarray, constant: float) -> tuple[_Table, tuple[numpy.ndarray, float]]:
    """The table without the columns that the formula does not need: those that bring least go first."""
    scale = float(numpy.median(table.target)) if form.logarithm else 1.0
    brings = numpy.abs(weights) * form.terms(table.cells).std(axis=0) * scale
    fitted, kept = (weights, constant), list(range(len(table.names)))
    order = numpy.argsort(brings).tolist()
    nothing = [i for i in order if brings[i] <= max(table.step / 2, EXACT * float(table.target.std()))]
    for left_out in (nothing, *([i] for i in order[:MOST_TRIED])):
        others = [i for i in kept if i not in left_out]
        if 0 < len(others) < len(kept) and (again := _weights(table.of(others), form)) is not None and _holds(table.of(others), form, *again):
            fitted, kept = again, others
    return table.of(kept), fitted


def _plain(table: _Table, form: _Form, weights: numpy.ndarray, constant: float) -> tuple[numpy.ndarray, float]:
    """The weights and the constant with as few digits as still hold."""
    share = numpy.full(len(weights), 1 / len(weights))
    for rounded in (share, *(numpy.array([float(f"{w:.{digits}g}") for w in weights]) for digits in (1, 2, 3)), weights):
        left = constant + float((form.terms(table.cells) @ (weights - rounded)).mean())
        if (close := next((c for c in _short(left, form.logarithm) if _holds(table, form, rounded, c)), None)) is not None:
            return rounded, close
    return weights, constant


def _short(constant: float, logarithm: bool) -> list[float]:
    """The constant with few digits, the fewest first, and as it is. Of a logarithm the digits of its number are meant, too."""
    factors = [math.log(float(f"{math.exp(constant):.{digits}g}")) for digits in (1, 2, 3)] if logarithm and abs(constant) < 500 else []
    return [0.0, *factors, *(float(f"{constant:.{digits}g}") for digits in (1, 2, 3)), constant]


def _weights(table: _Table, form: _Form) -> tuple[numpy.ndarray, float] | None:
    """The weights and the constant of least squares."""
    terms = form.terms(table.cells)
    centre, spread = terms.mean(axis=0), terms.std(axis=0)
    if not (spread > 0).all():
        return None
    target = numpy.log(table.target) if form.logarithm else table.target
    count = table.target if form.logarithm else numpy.ones(len(target))  # an error of the logarithm counts as one of the number
    design = numpy.column_stack([(terms - centre) / spread, numpy.ones(len(terms))]) * count[:, None]
    solved = numpy.linalg.lstsq(design, target * count, rcond=1e-10)[0]
    weights = solved[:-1] / spread
    return weights, float(solved[-1] - weights @ centre)


def _holds(table: _Table, form: _Form, weights: numpy.ndarray, constant: float) -> bool:
    """Whether nearly all rows are as far from the formula as rounding explains."""
    fitted = form.terms(table.cells) @ weights + constant
    if form.logarithm:
        fitted = numpy.exp(numpy.minimum(fitted, 700.0))
    off, spread = numpy.abs(table.target - fitted), float(table.target.std())
    values, counts = numpy.unique(table.target, return_counts=True)
    others = table.target != values[counts.argmax()]
    own = table.step / 2 * SLACK + EXACT * spread
    inputs = form.error(table.cells, table.steps) @ numpy.abs(weights) / 2 * (table.target if form.logarithm else 1.0)
    allowed = [numpy.full(len(off), EXACT * spread), *([numpy.full(len(off), own)] if own <= COARSE * spread else [])]
    if float(numpy.quantile(own + inputs, FITTING)) <= LOOSE * spread:
        allowed.append(own + inputs)
    return any((off <= a).mean() >= FITTING and others.sum() >= FEWEST and (off <= a)[others].mean() >= FITTING for a in allowed)


def _sum(names: list[str], weights: numpy.ndarray, constant: float) -> str:
    if len(names) > 1 and abs(constant) <= WHOLE:
        for word, share in (("sum", 1.0), ("mean", 1 / len(names))):
            if (numpy.abs(weights - share) <= WHOLE * share).all():
                return f"the {word} of {some(names, MOST_TERMS)}"
        if len(names) == 2 and weights[0] < 0 < weights[1]:
            names, weights = names[::-1], weights[::-1]  # b − a rather than −a + b
    return _weighted(names, weights, constant)


def _weighted(names: list[str], weights: numpy.ndarray, constant: float, of: str = "{}") -> str:
    """Weights times columns as a formula; of many columns only their names."""
    if len(names) > MOST_TERMS:
        return f"a weighted sum of {some([of.format(n) for n in names], MOST_TERMS)}"
    parts: list[str] = []
    for name, weight in zip(names, weights):
        number = "" if abs(abs(weight) - 1) <= WHOLE else f"{_figure(abs(weight))} × "
        sign = ("− " if weight < 0 else "+ ") if parts else ("−" if weight < 0 else "")
        parts.append(f"{sign}{number}{of.format(name)}")
    if abs(constant) > 1e-6 * float(numpy.abs(weights).max()):
        parts.append(f"{'−' if constant < 0 else '+'} {_figure(abs(constant))}")
    return " ".join(parts)


def _product(names: list[str], weights: numpy.ndarray, constant: float) -> str:
    first = f"{_figure(math.exp(constant))} × " if abs(constant) > WHOLE / 2 else ""
    factors = [n if abs(w - 1) <= WHOLE else f"{n}^{round(w) if abs(w - round(w)) <= WHOLE else format(w, '.3g')}" for n, w in zip(names, weights)]
    return first + " × ".join(factors)


def _figure(number: float) -> str:
    """A number with up to four digits."""
    text = f"{number:.4g}"
    return f"{float(text):.0f}" if "e+0" in text else text


_SUM = _Form(lambda x: x, lambda x, steps: numpy.broadcast_to(steps, x.shape), False, _sum)
_ABOVE_ZERO = _Form(
    lambda x: (x > 0).astype(float), lambda x, steps: numpy.zeros(x.shape), False,
    lambda names, weights, constant: f"the number of {some(names, MOST_TERMS)} that are above 0", True,
)  # fmt: skip
_LOGARITHM = _Form(
    numpy.log, lambda x, steps: steps / x, False, lambda names, weights, constant: _weighted(names, weights, constant, "log({})"),
)  # fmt: skip
_PRODUCT = _Form(numpy.log, lambda x, steps: steps / x, True, _product)
_POWER = _Form(
    lambda x: x, lambda x, steps: numpy.broadcast_to(steps, x.shape), True,
    lambda names, weights, constant: f"exp({_weighted(names, weights, constant)})",
)  # fmt: skip
