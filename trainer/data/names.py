"""Names by which columns and files are recognised, and names of files that are never data."""

import re
from pathlib import PurePosixPath

# In order of preference, should several be there.
LABELS = ("label", "labels", "target", "class", "category", "sentiment", "y", "gold", "rating")
TEXTS = ("text", "sentence", "review", "content", "body", "abstract", "description", "comment", "question", "document", "tweet")
TITLE = "title"
TEXT_NAMES = frozenset((*TEXTS, TITLE))

PAIRS = (("prompt", "response"), ("prompt", "completion"), ("instruction", "output"), ("instruction", "response"), ("question", "answer"))
CHATS = ("messages", "conversations", "conversation")
EDGES = (("source", "target"), ("src", "dst"), ("from", "to"), ("head", "tail"), ("u", "v"), ("node1", "node2"), ("id1", "id2"))
COLUMN_NAMES = frozenset((*LABELS, *TEXTS, TITLE, *(name for pair in PAIRS for name in pair)))
IDENTIFIERS = frozenset("id ids index idx key uid uuid guid identifier row rowid row_id number nr no".split())
SPLIT_COLUMNS = ("split", "subset", "partition")

TABLES = ("csv", "tsv", "tab", "txt", "jsonl", "ndjson", "json", "parquet", "conll", "bio", "iob", "iob2")
EDGE_LISTS = ("edges", "edgelist", "el", "cites", "content")  # tables of edges or nodes
GRAPHS = ("graphml", "gexf", "gml", "mtx", "npz", "net", "nt", *EDGE_LISTS)
PARQUET = "parquet"
TEXT = "txt"  # a table, or one of many texts in folders
MARKDOWN = "md"
TOKENS, TOKEN_META, TOKENIZER = "bin", "meta.pkl", "tokenizer.json"
IMAGES = ("png", "jpg", "jpeg", "gif", "bmp", "webp", "tif", "tiff")
ARCHIVE = "zip"
COMPRESSED = ("gz", "bz2", "xz", "zst")  # behind the ending of a table: train.csv.gz
_WEIGHTS = ("bin", "safetensors", "pt", "pth", "ckpt", "h5", "onnx", "pkl", "pickle", "joblib")

_NOT_READ = {
    "a spreadsheet: save it as CSV": ("xlsx", "xls", "ods"),
    "an unsupported archive format: use ZIP": (*COMPRESSED, "tar", "tgz", "7z", "rar"),
    "an unsupported image format: use PNG or JPEG": ("heic", "heif", "avif", "svg", "psd", "nef", "cr2"),
    "weights or pickled objects, which are never loaded": _WEIGHTS,
}

# What a run delivers, plus what it leaves in its run folder: never training data of a later run.
_RESULTS = frozenset(
    "metrics.json predictions.csv manifest.json result.json error.json spec.json events.jsonl labels.json config.json "
    "tokenizer.json tokenizer_config.json vocab.txt report.html model.zip model_card.md log.txt".split()
)
_RESULT_FOLDER = "finetune"
_NATURAL = re.compile(r"(\d+)")

_SPLITS = (
    ("test", re.compile(r"(?<![a-z])test(ing)?(set|data)?(?![a-z])")),
    ("validation", re.compile(r"(?<![a-z])(val|valid|validation|dev|development)(set|data)?(?![a-z])")),
    ("train", re.compile(r"(?<![a-z])train(ing)?(set|data)?(?![a-z])")),
)


def is_result(name: str) -> bool:
    """Whether ``name`` is something that a run of ours delivered into the dataset."""
    parts = PurePosixPath(name.lower().lstrip("/")).parts
    return bool(parts) and (_RESULT_FOLDER in parts[:-1] or parts[-1] in _RESULTS)


def is_identifier(name: str) -> bool:
    """Whether a column of this name numbers or names its rows. The index that some programs write has no name or "Unnamed: 0"."""
    name = name.strip().lower()
    return name in IDENTIFIERS or name.endswith(("_id", " id", "-id")) or name.startswith("unnamed") or name == "column 1"


def model_folders(names) -> set[str]:
    """The folders that hold a model: a configuration beside weights. Nothing in them is data, and nothing is ever loaded."""
    weights, configured = set(), set()
    for name in names:
        folder, _, base = name.rpartition("/")
        if base.lower() == "config.json":
            configured.add(folder)
        elif extension(base) in _WEIGHTS:
            weights.add(folder)
    return weights & configured


def token_folders(names) -> set[str]:
    """The folders that hold a file of tokens to train on, such as train.bin."""
    found = ((name, *name.rpartition("/")[::2]) for name in names)
    return {folder for _, folder, base in found if extension(base) == TOKENS and split_of(base) == "train"}


def is_token_file(name: str, folders: set[str]) -> bool:
    """Whether a file in one of these ``folders`` holds tokens, or describes them."""
    folder, _, base = name.rpartition("/")
    is_split = extension(base) == TOKENS and split_of(base) is not None
    return folder in folders and (is_split or base.lower() in (TOKEN_META, TOKENIZER))


def column(name: str) -> str:
    """A column at the beginning of a sentence; tables without a header have columns that are called "column 2"."""
    return name.capitalize() if re.fullmatch(r"column \d+", name) else f'Column "{name}"'


def natural(text: str) -> list:
    """A sort key that puts "10" after "9"."""
    return [(0, int(p), "") if p.isdecimal() and p.isascii() else (1, 0, p) for p in _NATURAL.split(text) if p]


def is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def extension(name: str) -> str:
    """The ending of a file's name in lower case: csv for train.csv, and for the compressed table train.csv.gz."""
    suffixes = [s.lstrip(".") for s in PurePosixPath(name.lower()).suffixes[-2:]]
    if len(suffixes) == 2 and suffixes[1] in COMPRESSED and suffixes[0] in (*TABLES, *GRAPHS):
        return suffixes[0]
    return suffixes[-1] if suffixes else ""


def compression(name: str) -> str:
    """How a table is compressed, by its name; empty where it is not."""
    last = PurePosixPath(name.lower()).suffix.lstrip(".")
    return last if last in COMPRESSED and extension(name) != last else ""


def not_read(name: str) -> str:
    """Why a file of this name is neither a table, a text nor an image."""
    kind = extension(name)
    return next((why for why, kinds in _NOT_READ.items() if kind in kinds), "not a table, text or image by its file extension")


def split_of(name: str) -> str | None:
    """The split that a file's name stands for, else that of the nearest folder whose name says one, else None."""
    path = PurePosixPath(name.lower())
    for part in (path.stem, *reversed(path.parts[:-1])):
        for split, pattern in _SPLITS:
            if pattern.search(part):
                return split
    return None
