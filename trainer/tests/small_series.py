"""Small tables of series."""

import math
import random


def monthly(months: int = 96, stations: int = 1, begin: int = 0, seed: int = 1) -> str:
    """A table of months since 2010: a trend, a season and some chance, of one series or several. Months before ``begin`` are left out."""
    rows = []
    for s in range(stations):
        chance = random.Random(seed + s)
        for m in range(months):
            value = 20 * s + 50 + 0.3 * m + 8 * math.sin(m * math.pi / 6) + chance.gauss(0, 1)
            if m >= begin:
                rows.append(f"{f's{s},' if stations > 1 else ''}{2010 + m // 12}-{m % 12 + 1:02},{value:.3f}")
    return "\n".join([f"{'station,' if stations > 1 else ''}month,value", *rows]) + "\n"
