"""Names by which columns and files are recognised, and names of files that are never data."""

import re
import unicodedata
from pathlib import PurePosixPath

from trainer.data import foreign, written

# In order of preference, should several be there.
LABELS = ("label", "labels", "target", "class", "category", "sentiment", "y", "gold", "rating")
TEXTS = ("text", "sentence", "review", "content", "body", "abstract", "description", "comment", "question", "document", "tweet")
TITLE = "title"
LABEL_FILES = frozenset("y label labels target targets class classes answers outcome outcomes truth groundtruth".split())  # words in names of files
TEXT_NAMES = frozenset((*TEXTS, TITLE))

PAIRS = (("prompt", "response"), ("prompt", "completion"), ("instruction", "output"), ("instruction", "response"), ("question", "answer"))
CHATS = ("messages", "conversations", "conversation")
EDGES = (("source", "target"), ("src", "dst"), ("from", "to"), ("head", "tail"), ("u", "v"), ("node1", "node2"), ("id1", "id2"))
COLUMN_NAMES = frozenset((*LABELS, *TEXTS, TITLE, *(name for pair in PAIRS for name in pair)))
IDENTIFIERS = frozenset("id ids index idx key uid uuid guid identifier row rowid row_id number nr no".split())
SPLIT_COLUMNS = ("split", "subset", "partition")

WORKBOOKS = ("xlsx", "xlsm", "xlsb", "xls", "ods")
ARRAYS = ("nc", "nc4", "netcdf", "cdf", "h5", "hdf5", "he5", "hdf", "npy", "feather", "arrow", "ipc", "orc")  # columns behind each other
SEQUENCES = ("fasta", "fas", "fa", "fna", "faa", "ffn")
OF_INSTRUMENTS = ("dat", "data", "asc", "prn", "rdb", "")  # any program may write any content into them, or into a file without an ending
TABLES = (
    *("csv", "tsv", "tab", "txt", "jsonl", "ndjson", "json", "geojson", "parquet", "conll", "bio", "iob", "iob2", "dbf", "arff"),
    *SEQUENCES, *WORKBOOKS, *ARRAYS, *OF_INSTRUMENTS,
)  # fmt: skip
EDGE_LISTS = ("edges", "edgelist", "el", "cites", "content")  # tables of edges or nodes
GRAPHS = ("graphml", "gexf", "gml", "mtx", "npz", "net", "nt", *EDGE_LISTS)
PARQUET = "parquet"
TEXT = "txt"  # a table, or one of many texts in folders
ANY_CONTENT = (TEXT, *OF_INSTRUMENTS)  # only the content tells whether it is a table
WRITTEN = ("md", *written.ENDINGS)  # texts, where folders or metadata label them, or the task is to write texts
TOKENS, TOKEN_META, TOKENIZER = "bin", "meta.pkl", "tokenizer.json"
IMAGES = ("png", "jpg", "jpeg", "gif", "bmp", "webp", "tif", "tiff")
WORLD_FILES = ("tfw", "tifw", "jgw", "jpgw", "pgw", "pngw", "wld")  # the place of a picture on the earth
ANNOTATIONS = ("xml", "yaml", "yml", "names", "shp", "gpkg", "kml", *WORLD_FILES)  # not read, but they tell what pictures are for
ARCHIVE = "zip"
COMPRESSED = ("gz", "bz2", "xz", "zst")  # behind the ending of a table: train.csv.gz
WEIGHTS = ("bin", "safetensors", "pt", "pth", "ckpt", "h5", "onnx")  # beside the configuration of a model
_SYSTEM_FILES = frozenset(("thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r"))

_NOT_READ = {
    "compressed, and its name does not say what is in it: give it an ending such as .csv.gz, or use ZIP": COMPRESSED,
    "an unsupported archive format: use ZIP": ("tar", "tgz", "7z", "rar"),
    "an unsupported image format: use PNG or JPEG": ("heic", "heif", "avif", "svg", "psd", "nef", "cr2"),
    "weights or pickled objects, which are never loaded": ("safetensors", "pt", "pth", "ckpt", "onnx", "pkl", "pickle", "joblib"),
    "binary data of a form that its name does not tell: save it as CSV, or as images": ("bin",),
}

# The service puts files that a person chose in a form into such a folder, whatever their own names say: internal/job/chosen.go.
DATA, LABELLING, SETTINGS, MODEL = "data", "labels", "settings", "model"
_CHOSEN = re.compile(r"(data|train|validation|test|labels|settings|model) \(form(, [^/]*)?\)/")

_CAMEL_ID = re.compile(r"[a-z]I[Dd]$|^(?i:(subj|subject|patient|pat|pt|participant|sample|plot|site|animal|station)id)$")  # patientID, SUBJID
_NUMBERED = re.compile(  # Sample No., Probe-Nr: not "leaf no", which counts
    r"(.*[ _.-]nr|(.* )?(proben|patienten|lfd[ _.-]*|laufende |serien|kenn)nummer|(sample|specimen|patient|subject|record|ref|reference|serial)"
    r"[ _.-]*(no|num|number))\.?"
)
_COORDINATES = {
    "latitude": re.compile(r"(.*[a-z](?=L)|.*[ _.-])?(?i:latitude|lat|breitengrad)|(?i:decimallatitude)"),
    "longitude": re.compile(r"(.*[a-z](?=L)|.*[ _.-])?(?i:longitude|lon|lng|längengrad)|(?i:decimallongitude|(gps[ _])?long)"),
    "northing": re.compile(r"(.*[ _.-])?northings?|utm[ _]?[ny]|y[ _]coord|coord[ _]y", re.IGNORECASE),
    "easting": re.compile(r"(.*[ _.-])?eastings?|utm[ _]?[ex]|x[ _]coord|coord[ _]x", re.IGNORECASE),
}
_UNIT = re.compile(r"[ _.]?[(\[]?(dd|deg|degrees|decimal degrees|°|wgs84|m)[)\]]?$", re.IGNORECASE)  # behind the name of a coordinate
_WORD = re.compile(r"[a-z]+")
_NATURAL = re.compile(r"(\d+)")

_IS_SPLIT = {"is_train": "train", "istrain": "train", "is_training": "train", "in_train": "train", "is_test": "test", "istest": "test"}
_YES_NO = ({"0", "1"}, {"0.0", "1.0"}, {"false", "true"}, {"no", "yes"})
_SPLITS = (
    ("test", re.compile(r"(?<![a-z])(public|private)?[ _-]?test(ing)?(set|data)?(?![a-z])")),
    ("validation", re.compile(r"(?<![a-z])(val|valid|validation|dev|development)(set|data)?(?![a-z])")),
    ("train", re.compile(r"(?<![a-z])train(ing)?(set|data)?(?![a-z])")),
)


def nfc(text: str) -> str:
    """``text`` with each accented letter as one character. Macs write file names with letter and accent apart, which look the same."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_identifier(name: str) -> bool:
    """Whether a column of this name numbers or names its rows. The index that some programs write has no name or "Unnamed: 0"."""
    if _CAMEL_ID.search(name.strip()):
        return True
    name = name.strip().lower()
    return name in IDENTIFIERS or name.endswith(("_id", " id", "-id")) or _NUMBERED.fullmatch(name) is not None or is_given(name)


def is_given(name: str) -> bool:
    """Whether a first column has no name of its own, as the index that some programs write."""
    name = name.strip().lower()
    return name.startswith("unnamed") or name == "column 1"


def coordinate(name: str) -> str:
    """Which coordinate of a place a column of this name holds: latitude, longitude, northing or easting; empty for none.

    The name may have words before the coordinate (SITE_LATITUDE) and a unit behind it (lon_dd).
    """
    name = nfc(name.strip())
    without_unit = _UNIT.sub("", name)
    return next((kind for kind, spelled in _COORDINATES.items() if spelled.fullmatch(name) or spelled.fullmatch(without_unit)), "")


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


def words(name: str) -> frozenset[str]:
    """The words in the name of a file and of its folders, in lower case, without its ending."""
    return frozenset(_WORD.findall(name.lower().rpartition(".")[0] or name.lower()))


def natural(text: str) -> list:
    """A sort key that puts "10" after "9"."""
    return [(0, int(p), "") if p.isdecimal() and p.isascii() else (1, 0, p) for p in _NATURAL.split(text) if p]


def is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def is_of_system(name: str) -> bool:
    """Whether a file of this name is one that an operating system leaves in folders."""
    return PurePosixPath(name.lower()).name in _SYSTEM_FILES


def extension(name: str) -> str:
    """The ending of a file's name in lower case: csv for train.csv, and for the compressed table train.csv.gz."""
    suffixes = [s.lstrip(".") for s in PurePosixPath(name.lower().rstrip()).suffixes[-2:]]
    if len(suffixes) == 2 and suffixes[1] in COMPRESSED and suffixes[0] in (*TABLES, *GRAPHS):
        return suffixes[0]
    return suffixes[-1] if suffixes else ""


def stem(name: str) -> str:
    """The name of a file without its folders and its ending, in lower case."""
    return name.rsplit("/", 1)[-1].rpartition(".")[0].lower()


def compression(name: str) -> str:
    """How a table is compressed, by its name; empty where it is not."""
    last = PurePosixPath(name.lower().rstrip()).suffix.lstrip(".")
    return last if last in COMPRESSED and extension(name) != last else ""


def not_read(name: str) -> str:
    """Why a file of this name is neither a table, a text nor an image."""
    kind = extension(name)
    inner = extension(PurePosixPath(name.rstrip()).stem) if kind in COMPRESSED else ""
    if inner == "tar":
        kind = inner
    return (
        foreign.by_ending(inner)
        or foreign.by_ending(kind)
        or next((why for why, kinds in _NOT_READ.items() if kind in kinds), "not a table, text or image by its file extension")
    )


def chosen_as(name: str) -> str:
    """What a person chose the file for in a form: a split, DATA, LABELLING, SETTINGS or MODEL; empty where nobody did."""
    chosen = _CHOSEN.match(name)
    return chosen[1] if chosen else ""


def chosen_split(name: str) -> str:
    """The split that a person chose the file for in a form, or an empty text."""
    chosen = chosen_as(name)
    return chosen if chosen in ("train", "validation", "test") else ""


def in_form(name: str) -> str:
    """``name`` without the folder that says what the file was chosen for."""
    return name[name.index("/") + 1 :] if chosen_as(name) else name


def is_split(value: str) -> bool:
    """Whether a cell says nothing but a split: train, Testing, PublicTest."""
    return any(pattern.fullmatch(value.strip().lower()) for _, pattern in _SPLITS)


def says_split(column: str, cells: set[str]) -> bool:
    """Whether a column such as is_train says with yes and no which rows are for training."""
    return column.strip().lower() in _IS_SPLIT and {c.lower() for c in cells} in _YES_NO


def split_of_cell(column: str, cell: str) -> str | None:
    """The split that a cell of a column of splits stands for; None for none."""
    if says := _IS_SPLIT.get(column.strip().lower()):
        is_so = cell.lower() in ("1", "1.0", "true", "yes")
        return says if is_so else "test" if says == "train" else "train"
    return split_of(cell)


def split_of(name: str) -> str | None:
    """The split that a file's name stands for, else that of the nearest folder whose name says one, else None.

    What a person chose the file for counts before its name.
    """
    if chosen := chosen_split(name):
        return chosen
    path = PurePosixPath(in_form(name).lower())
    for part in (path.stem, *reversed(path.parts[:-1])):
        for split, pattern in _SPLITS:
            if pattern.search(part):
                return split
    return None
