"""Whether a dataset holds annotations, looked at once for all kinds, and whether one of them is trained on such a format."""

from trainer.core import registry
from trainer.data.annotations import look
from trainer.data.annotations.held import Annotations
from trainer.data.claims import Files

_SHARED = "annotations"


def find(files: Files) -> Annotations | None:
    """The annotations of a dataset; None where there are none."""
    if _SHARED not in files.shared:
        files.shared[_SHARED] = look.find(files.sources)
    return files.shared[_SHARED]


def is_said(settings) -> bool:
    """Whether the user said what the files are."""
    return settings.task != "auto" or any(s.strip() for s in (settings.label_column, settings.text_column, settings.label_from))


def is_trained(form: str) -> bool:
    """Whether a kind of data is trained on annotations of this format."""
    return any(form in kind.annotation_formats for kind in registry.kinds().values())
