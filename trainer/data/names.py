"""Names by which columns and files are recognised, and names of files that are never data."""

import re
from pathlib import PurePosixPath

# In order of preference, should several be there.
LABELS = ("label", "labels", "target", "class", "category", "sentiment", "y", "gold", "rating")
TEXTS = ("text", "sentence", "review", "content", "body", "abstract", "description", "comment", "question", "document", "tweet")
TITLE = "title"
LABEL_NAMES = frozenset(LABELS)
TEXT_NAMES = frozenset((*TEXTS, TITLE))

TABLES = ("csv", "tsv", "tab", "txt", "jsonl", "ndjson")

# What a run delivers, plus what it leaves in its run folder: never training data of a later run.
_RESULTS = frozenset(
    "metrics.json predictions.csv manifest.json result.json error.json spec.json events.jsonl labels.json config.json "
    "tokenizer.json tokenizer_config.json vocab.txt report.html model.zip model_card.md log.txt".split()
)
_RESULT_FOLDER = "finetune"

_SPLITS = (
    ("test", re.compile(r"(?<![a-z])test(ing)?(set|data)?(?![a-z])")),
    ("validation", re.compile(r"(?<![a-z])(val|valid|validation|dev|development)(set|data)?(?![a-z])")),
    ("train", re.compile(r"(?<![a-z])train(ing)?(set|data)?(?![a-z])")),
)


def is_result(name: str) -> bool:
    """Whether ``name`` is something that a run of ours delivered into the dataset."""
    parts = PurePosixPath(name.lower().lstrip("/")).parts
    return bool(parts) and (_RESULT_FOLDER in parts[:-1] or parts[-1] in _RESULTS)


def column(name: str) -> str:
    """A column at the beginning of a sentence; tables without a header have columns that are called "column 2"."""
    return name.capitalize() if re.fullmatch(r"column \d+", name) else f'Column "{name}"'


def is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def extension(name: str) -> str:
    return PurePosixPath(name.lower()).suffix.lstrip(".")


def split_of(name: str) -> str | None:
    """The split that a file's name stands for, else that of the nearest folder whose name says one, else None."""
    path = PurePosixPath(name.lower())
    for part in (path.stem, *reversed(path.parts[:-1])):
        for split, pattern in _SPLITS:
            if pattern.search(part):
                return split
    return None
