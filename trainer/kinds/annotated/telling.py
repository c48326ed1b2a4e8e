"""What is said of annotations that are not used, or used after a repair: by name and count."""

from collections.abc import Sequence

from trainer.data.checks import Checks
from trainer.errors import count, left_out, some
from trainer.kinds.annotated import cvat_tracks, mask_files, turning
from trainer.kinds.annotated.shapes import Annotated, Picture

_FEW_PARTS = 10  # of videos, from which some can be held out
_DOUBTFUL = (turning.UNCLEAR, mask_files.ABSENT, mask_files.BY_NUMBER, cvat_tracks.COUNTED_FROM_1)  # what is done without being sure


def tell(annotated: Annotated, checks: Checks) -> None:
    """Note what was left out or repaired, and which pictures nobody annotated."""
    for noted, level, code in (
        (annotated.left_out, checks.warning, "annotations_left_out"),
        (annotated.changed, checks.ok, "annotations_repaired"),
    ):
        for reason, number in noted.counts.items():
            said = checks.warning if reason in _DOUBTFUL else level
            dropped = noted is annotated.left_out
            what = f"{left_out(number, 'annotation')}: {reason}" if dropped else f"{'Once' if number == 1 else f'{number:,} times'} {reason}"
            said(code, f"{what}, for example in {some(noted.names[reason], 5)}.")
            if dropped:
                checks.drop(reason, number)
    if annotated.not_annotated:
        listed = [i.name for i in annotated.not_annotated]
        checks.warning(
            "not_annotated",
            f"{count(len(listed), 'picture')} without annotations are not trained on, because nobody knows what is in them: {some(listed, 5)}.",
        )
        checks.drop("the picture has no annotations", len(listed))


def parts(pictures: Sequence[Picture], checks: Checks) -> dict[str, str]:
    """The part of a video that each picture is a frame of, by their names; none where there are too few parts to hold some out. Says what that means
    for the metrics."""
    found = {p.source.name: p.part for p in pictures if p.part}
    if not found:
        return {}
    number = len(set(found.values()))
    if number < _FEW_PARTS:
        checks.warning(
            "time_neighbours", "The pictures are frames of a video, and too few to keep neighbouring frames together: the same things may be in the "
            "training and in the test, so the metrics are better than for other videos. Put frames of others into a folder test to measure that.",
        )  # fmt: skip
        return {}
    checks.events.decision(
        "groups", number,
        f"The pictures are frames of videos, in {number} parts of neighbouring frames. Frames of one part stay together, so that few test pictures "
        "have a neighbour in the training. What new videos would score is not measured: put frames of others into a folder test.",
    )  # fmt: skip
    return found
