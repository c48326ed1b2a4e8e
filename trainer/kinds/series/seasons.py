"""The season of series: the usual one of their steps or another one, where the values show it.

A series that rises or wanders slowly is like itself at all distances. Its changes from step to step are not: they are alike after a season, after
two of them, and have the same pattern in the first half of the series and in the second. Cycles without a fixed length fail there.
"""

from dataclasses import dataclass

import numpy

from trainer.kinds.series.calendar import Calendar
from trainer.kinds.series.panel import Panel

_ALIKE, _TWICE = 0.3, 0.5  # correlation after a season that nothing else speaks for; after two seasons, in shares of it
_CHANCE, _HALVES = 1.8, 0.7  # times what chance gives (95 %); correlation of the patterns of both halves
_USUAL = (0.0, 0.0, 1.0, 0.5)  # the same bounds (alike, twice, chance, halves) for a season that is usual
_CLEARER = 0.1  # correlation by which a longer season must be better than a shorter one
_LONGEST, _PEAKS, _LOOKED_AT = 400, 8, 200  # steps of a season; seasons that are tried; series
_FEWEST = 3  # seasons in a series of half of the usual length
_CERTAIN = 1.645  # standard errors


@dataclass(frozen=True)
class Repeats:
    """How alike changes are after ``steps``: their correlation, how much more than after a step less or more, in times of what chance gives, after
    two seasons, and between the halves."""

    steps: int
    alike: float
    peak: float
    chance: float
    twice: float
    halves: float

    def clear(self, usual: bool) -> bool:
        alike, twice, chance, halves = _USUAL if usual else (_ALIKE, _TWICE, _CHANCE, _HALVES)
        return self.alike > alike and self.peak >= 0 and self.twice >= twice * self.alike and self.chance > chance and self.halves > halves


def find(panel: Panel, ends: numpy.ndarray, calendar: Calendar) -> tuple[int, str]:
    """The steps of a season of the values before ``ends``, 1 for none, and why."""
    usual = calendar.season
    looked = numpy.argsort(-ends, kind="stable")[:_LOOKED_AT]
    changes = [numpy.diff(panel.values[s][: ends[s]]) for s in looked]
    changes = [c / spread for c in changes if len(c) > 3 and (spread := c.std()) > 0]
    length = int(numpy.median(ends))
    if usual > 1 and length < 2 * usual:
        return 1, f"No season is looked for: the series have {length} steps, and a season of {usual} steps needs over two."
    if not changes:
        return 1, "No season is looked for: the values do not change."
    shown = _best(changes, usual)
    if shown is not None and shown.steps == usual:
        return usual, f"The series repeat themselves after {usual} steps, as is usual for such steps: {_words(shown)}."
    if shown is not None:
        instead = f", and not after {usual} steps as is usual for such steps" if usual > 1 else ""
        return shown.steps, f"The series repeat themselves after {shown.steps} steps{instead}: {_words(shown)}."
    if usual == 1:
        return 1, "No season: such steps have no usual one, and the values repeat themselves after no number of steps."
    seen = "They are too short to show it" if length < _FEWEST * usual else "The values do not show it; ETS and Theta use it only where it helps"
    return usual, f"The series may repeat themselves after {usual} steps, as is usual for such steps. {seen}."


def _words(shown: Repeats) -> str:
    return f"changes of one season apart have a correlation of {shown.alike:.2f}, and chance would give {shown.alike / shown.chance:.2f} at most"


def _best(changes: list[numpy.ndarray], usual: int) -> Repeats | None:
    """The shortest season that is as clear as the clearest one, the usual one with less doubt; None where there is none."""
    longest = min(_LONGEST, int(numpy.median([len(c) for c in changes])) // _FEWEST)
    mean = numpy.mean([numpy.pad(r := alike(c, longest), (0, longest + 1 - len(r))) for c in changes], axis=0)
    inner = mean[3:-1]
    peaks = 3 + numpy.flatnonzero((inner >= mean[2:-2]) & (inner >= mean[4:])) if longest > 4 else numpy.zeros(0, int)
    peaks = peaks[numpy.argsort(-mean[peaks], kind="stable")][:_PEAKS]
    tried = {int(m) for m in peaks} | ({usual} if usual > 1 else set())
    clear = [shown for m in sorted(tried) if (shown := _repeats(changes, m)).clear(m == usual)]
    if not clear:
        return None
    enough = max(shown.alike for shown in clear) - _CLEARER
    among = [shown for shown in clear if shown.alike > enough]
    return next((shown for shown in among if shown.steps == usual), among[0])


def _repeats(changes: list[numpy.ndarray], steps: int) -> Repeats:
    """The median over the series of how each repeats itself."""
    found = []
    for c in changes:
        r = numpy.pad(part := alike(c, 2 * steps), (0, 2 * steps + 1 - len(part)))
        by_chance = _CERTAIN * numpy.sqrt((1 + 2 * (r[1:steps] ** 2).sum()) / len(c))
        found.append((r[steps], r[steps] - max(r[steps - 1], r[steps + 1]), r[steps] / by_chance, r[2 * steps], _halves(c, steps)))
    return Repeats(steps, *(float(m) for m in numpy.median(found, axis=0)))


def alike(changes: numpy.ndarray, longest: int) -> numpy.ndarray:
    """The autocorrelation of ``changes`` at the distances 0 to ``longest``, or to their number."""
    apart = changes - changes.mean()
    spectrum = numpy.fft.rfft(apart, 2 * len(apart))
    products = numpy.fft.irfft(numpy.abs(spectrum) ** 2, 2 * len(apart))[: min(longest + 1, len(apart))]
    return products / max(products[0], 1e-300)


def _halves(changes: numpy.ndarray, steps: int) -> float:
    """The correlation between the patterns of the first half and the second one."""
    phases, middle = numpy.arange(len(changes)) % steps, len(changes) // 2
    patterns = []
    for part in (slice(0, middle), slice(middle, None)):
        mean = numpy.bincount(phases[part], changes[part], steps) / numpy.maximum(1, numpy.bincount(phases[part], minlength=steps))
        patterns.append(mean - mean.mean())
    first, second = patterns
    return float((first * second).sum() / max(1e-300, ((first**2).sum() * (second**2).sum()) ** 0.5))
