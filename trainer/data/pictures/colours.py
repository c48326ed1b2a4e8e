"""Colours that the colour-blind tell apart, for classes and numbers in pictures."""

import numpy

# The colours of Okabe and Ito, then of Tol's muted scheme, and their names.
PALETTE = (
    *((230, 159, 0), (0, 114, 178), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 228, 66), (0, 0, 0)),
    *((136, 34, 85), (153, 153, 51), (51, 34, 136), (221, 204, 119), (68, 170, 153), (170, 68, 153), (17, 119, 51), (204, 102, 119)),
)
NAMES = (
    *("orange", "blue", "green", "pink", "light blue", "red", "yellow", "black"),
    *("wine", "olive", "indigo", "sand", "teal", "purple", "dark green", "rose"),
)
# From dark violet over green to yellow. They get lighter all the way, so black and white tells them apart, too.
SCALE = ((68, 1, 84), (65, 68, 135), (42, 120, 142), (34, 168, 132), (122, 209, 81), (253, 231, 37))
NO_DATA = (170, 170, 170)


def of_numbers(values: numpy.ndarray, low: float, high: float) -> numpy.ndarray:
    """Numbers (height x width) as colours between two of them (height x width x 3, uint8); those beyond have the colours of the ends."""
    known = numpy.isfinite(values)
    places = numpy.clip((numpy.where(known, values, low) - low) / max(high - low, 1e-30), 0, 1) * (len(SCALE) - 1)
    drawn = numpy.stack([numpy.interp(places, range(len(SCALE)), [c[band] for c in SCALE]) for band in range(3)], axis=2).astype(numpy.uint8)
    drawn[~known] = NO_DATA
    return drawn
