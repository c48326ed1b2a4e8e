"""What is said of annotations that are not used, or used after a repair: by name and count."""

from trainer.data.checks import Checks
from trainer.errors import count, some
from trainer.kinds.annotated import mask_files, turning
from trainer.kinds.annotated.shapes import Annotated

_DOUBTFUL = (turning.UNCLEAR, mask_files.ABSENT)  # what is done without being sure


def tell(annotated: Annotated, checks: Checks) -> None:
    """Note what was left out or repaired, and which pictures nobody annotated."""
    for noted, level, code in (
        (annotated.left_out, checks.warning, "annotations_left_out"),
        (annotated.changed, checks.ok, "annotations_repaired"),
    ):
        for reason, number in noted.counts.items():
            said = checks.warning if reason in _DOUBTFUL else level
            said(code, f"{'Once' if number == 1 else f'{number:,} times'} {reason}, for example in {some(noted.names[reason], 5)}.")
            if noted is annotated.left_out:
                checks.drop(reason, number)
    if annotated.not_annotated:
        listed = [i.name for i in annotated.not_annotated]
        checks.warning(
            "not_annotated",
            f"{count(len(listed), 'picture')} without annotations are not trained on, because nobody knows what is in them: {some(listed, 5)}.",
        )
        checks.drop("the picture has no annotations", len(listed))
