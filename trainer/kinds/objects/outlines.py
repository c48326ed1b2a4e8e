"""Outlines as distances from a place inside of an object to its border, in evenly spread directions."""

import numpy

RAYS = 32
_POINTS = 64  # of an outline that is learnt from
_ANGLES = 2 * numpy.pi * numpy.arange(RAYS) / RAYS
DIRECTIONS = numpy.stack([numpy.cos(_ANGLES), numpy.sin(_ANGLES)], axis=1)  # the first points to the right, and they turn down


def of_segmentation(segmentation) -> numpy.ndarray:
    """The largest ring (n x 2) of a segmentation as COCO has it."""
    if isinstance(segmentation, dict):
        rings = _contours(segmentation)
    else:
        rings = [numpy.asarray(ring, numpy.float64).reshape(-1, 2) for ring in segmentation]
    largest = max(rings, key=area)
    return largest[:: -(-len(largest) // _POINTS)]


def _contours(segmentation: dict) -> list[numpy.ndarray]:
    import skimage.measure

    from trainer.kinds.annotated import runs
    from trainer.kinds.annotated.shapes import Runs

    mask = runs.mask(Runs(numpy.asarray(segmentation["counts"], numpy.int64), *segmentation["size"]))
    found = skimage.measure.find_contours(numpy.pad(mask, 1).astype(numpy.float32), 0.5)
    return [contour[:-1, ::-1] - 0.5 for contour in found] or [numpy.zeros((3, 2))]  # from centres of pixels to their corners, without the margin


def area(ring: numpy.ndarray) -> float:
    x, y = ring.T
    return abs(float(x @ numpy.roll(y, -1) - y @ numpy.roll(x, -1))) / 2


def rays(ring: numpy.ndarray, places: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """From each of ``places`` (n x 2) the distances to the ring (n x RAYS), and whether it lies inside."""
    edges = numpy.roll(ring, -1, axis=0) - ring
    to = ring[None] - places[:, None]  # places x points x 2
    across = DIRECTIONS[:, None, 0] * edges[None, :, 1] - DIRECTIONS[:, None, 1] * edges[None, :, 0]  # rays x points
    steep = numpy.where(numpy.abs(across) < 1e-9, numpy.inf, across)
    along = (to[..., 0] * edges[:, 1] - to[..., 1] * edges[:, 0])[:, None] / steep  # places x rays x points
    share = (to[:, None, :, 0] * DIRECTIONS[:, None, 1] - to[:, None, :, 1] * DIRECTIONS[:, None, 0]) / steep
    crossed = (share >= 0) & (share < 1) & (along > 0)
    distances = numpy.where(crossed, along, numpy.inf).min(axis=2)
    inside = (crossed.sum(axis=2) % 2 == 1).mean(axis=1) > 0.5
    return numpy.where(numpy.isfinite(distances), distances, 0.0), inside


def ellipse(box: numpy.ndarray) -> numpy.ndarray:
    """The ring of the ellipse that fills a box."""
    return (box[:2] + box[2:]) / 2 + DIRECTIONS * (box[2:] - box[:2]) / 2
