"""A small table of a series."""

import math
import random


def monthly(months: int = 96, begin: int = 0) -> str:
    """Months from ``begin`` on, counted since 2010: a trend, a season and some chance."""
    chance = random.Random(1)
    lines = ["month,value"]
    for m in range(begin, begin + months):
        lines.append(f"{2010 + m // 12}-{m % 12 + 1:02},{50 + 0.3 * m + 8 * math.sin(m * math.pi / 6) + chance.gauss(0, 1):.3f}")
    return "\n".join(lines) + "\n"
