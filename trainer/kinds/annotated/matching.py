"""Which picture of the dataset an annotation is about, how large it is upright, and in which split a list puts it."""

from pathlib import Path
from typing import BinaryIO

from trainer.core.input import Input
from trainer.data import names, rasters
from trainer.data.images import Index, opened
from trainer.kinds.annotated import limits, turning

_ORIENTATION = 0x0112
_LIST_BYTES = 16 << 20
_BOTH = "both"  # training and validation together
_LISTS = {"trainval": _BOTH, "train": "train", "val": "validation", "valid": "validation", "validation": "validation", "test": "test"}


class Pictures:
    """Finds pictures by the names that annotations give them."""

    def __init__(self, images: list[Input]):
        self._index = Index(images)
        self._exact: dict[str, Input] = {}
        for image in images:
            lower = names.nfc(image.name).lower()
            self._exact[lower] = image
            self._exact.setdefault(lower.rpartition(".")[0], image)

    def find(self, source: Input, candidates: tuple[str, ...]) -> Input | None:
        """The picture that one of ``candidates`` names, seen from the folder of the file ``source``, from its neighbours, or from the root."""
        folders = _around(source.name)
        plain = [_plain(c) for c in candidates if c.strip()]
        for name in plain:
            for folder in folders:
                if (image := self._exact.get(f"{folder}{name}".lower())) is not None:
                    return image
        for name in plain:
            for folder in [*folders[:1], ""]:
                if (image := self._index.find(f"{folder}{name}")) is not None:
                    return image
        return None


def _plain(name: str) -> str:
    return "/".join(part for part in names.nfc(name).replace("\\", "/").split("/") if part.strip() not in ("", ".", ".."))


def _around(name: str) -> list[str]:
    """The folder of a file, the folders of pictures beside it, and those above it, each with a slash at its end."""
    parts = name.split("/")[:-1]
    split = names.split_of(name.rsplit("/", 1)[-1])
    places = []
    for depth in range(len(parts), -1, -1):
        above = "".join(f"{part}/" for part in parts[:depth])
        inner = ["", "images/", "imgs/", "JPEGImages/"]
        if split:
            stem = names.stem(name).rpartition("_")[2]
            inner += [f"{stem}/", f"images/{stem}/", f"{split}/", f"images/{split}/"]
        places += [f"{above}{folder}" for folder in inner]
    return list(dict.fromkeys(places))


def upright_size(file: Path | BinaryIO) -> tuple[int, int]:
    """Width and height of a picture as it is to be seen. Raises OSError or ValueError."""
    width, height = rasters.size(file)
    return (height, width) if orientation(file) in turning.SIDES else (width, height)


def orientation(file: Path | BinaryIO) -> int:
    """How EXIF turns a picture before it is shown; 1 for not at all. Raises OSError or ValueError."""
    if not rasters.form(file).plain:
        return 1  # bands are read as they are stored
    with opened(rasters.rewound(file)) as image:
        return image.getexif().get(_ORIENTATION, 1)


def listed_splits(texts: list[Input], others: list[Input]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The split of each picture by its name without an ending, from lists such as ImageSets/Main/train.txt, and the files that were read."""
    splits: dict[str, str] = {}
    both: dict[str, str] = {}
    read = []
    for source in dict.fromkeys((*texts, *others)):
        split = _LISTS.get(names.stem(source.name), "") if names.extension(source.name) == names.TEXT else ""
        if not split or source.size > _LIST_BYTES:
            continue
        lines = [line.split() for line in limits.text(source, _LIST_BYTES).splitlines() if line.strip()]
        if not lines or any(len(words) != 1 for words in lines):
            continue
        read.append(source.name)
        into = both if split == _BOTH else splits
        for (name,) in lines:
            base = name.replace("\\", "/").rsplit("/", 1)[-1]
            stem = base.rpartition(".")[0] if names.extension(base) in names.IMAGES else base
            into[stem.lower()] = "train" if split == _BOTH else split
    return {**both, **splits} if splits else both, tuple(read)
