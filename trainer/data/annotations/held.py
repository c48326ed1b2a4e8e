"""What a dataset holds of annotations, and the sentence with which it is refused."""

from dataclasses import dataclass

from trainer.errors import UserError, count, some

SCRIPT = "ncsa.ray.script"
CODE = "annotations"


@dataclass(frozen=True)
class Annotations:
    """Annotations of one format in some files.

    ``annotations`` is their number, ``classes`` their names; 0 or none where the look did not tell. ``cut`` says that only a part was looked at.
    ``note`` is a sentence that the user needs as well.
    """

    format: str
    files: tuple[str, ...]
    annotations: int = 0
    classes: tuple[str, ...] = ()
    cut: bool = False
    note: str = ""

    def joined(self, other: "Annotations") -> "Annotations":
        """Both together. They are of the same format."""
        classes = tuple(dict.fromkeys((*self.classes, *other.classes)))
        number = self.annotations + other.annotations
        return Annotations(self.format, (*self.files, *other.files), number, classes, self.cut or other.cut, self.note or other.note)


def refusal(held: Annotations, pictures: int) -> UserError:
    """The error for a dataset with ``held`` and this number of pictures."""
    number = f"{'at least ' if held.cut else ''}{count(held.annotations, 'annotation')}" if held.annotations else ""
    classes = f"the {'class' if len(held.classes) == 1 else 'classes'} {some(held.classes, 6)}" if held.classes else ""
    parts = some([part for part in (count(pictures, "picture") if pictures else "no pictures", number, classes) if part])
    return UserError(
        CODE,
        f"The dataset has annotations of pictures, {held.format} in {some(held.files, 3)}: {parts}.",
        f"Train on them with a script of your own, with {SCRIPT}. To have the files read in another way all the same, set task, for example to "
        "image-classification.",
        f"{held.note} This form of annotations is not trained on here.".strip(),
    )


def without_pictures(held: Annotations) -> UserError:
    """The error for annotations whose pictures are not in the dataset."""
    number = count(held.annotations, "annotation") if held.annotations else "annotations"
    return UserError(
        CODE,
        f"The dataset has {number} of pictures, {held.format} in {some(held.files, 3)}, but no pictures.",
        "Add the pictures to the dataset, then submit again.",
    )
