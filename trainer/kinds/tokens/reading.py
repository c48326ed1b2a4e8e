"""From files with tagged words to the sentences of a training or a prediction, with a sentence for each decision."""

import re
from dataclasses import replace

from trainer.core import registry
from trainer.core.example import SPLITS, Dataset, Example
from trainer.core.input import Input
from trainer.core.kind import Kind
from trainer.data import audit, chosen, duplicates, folders, names, ordered, origins, splits as splitting, subset
from trainer.data.checks import Checks
from trainer.data.claims import FORM, Claim, Files
from trainer.data.formats import tables
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.table import NotATable
from trainer.data.keys import Keys
from trainer.data.sources import Ignored, Sources
from trainer.errors import UserError, some
from trainer.kinds.tokens import entities, forms, words
from trainer.kinds.tokens.forms import Found, Sentence
from trainer.run_folder.events import Events

KIND, TASK = "tokens", "token-classification"
UNKNOWN = "\x1a"  # in place of a tag that nobody knows
MIN_SENTENCES = 20
MIN_OF_TYPE = 3  # sentences with a type, for them to be spread evenly over the splits
_HEAD = 65_536  # bytes that are looked at
_LISTS = re.compile(rb'"(tokens|words|ner_tags|tags|ner|ner_labels|pos_tags|labels?|entities|spans|ents|annotations)"\s*:\s*\[')
_EMPTY_LINE = re.compile(rb"\n[ \t]*\r?\n")
_ROWS = ("json", "jsonl", "ndjson", names.PARQUET)


def find(found: Sources, settings, events: Events) -> list[tuple[Input, Found]]:
    """The files of ``found`` that hold tagged words, where the settings allow this task; the others are then ignored and named."""
    asked = settings.task == TASK
    if not asked and (settings.task != "auto" or settings.text_column.strip() or settings.label_column.strip()):
        return []
    read = [(source, one) for source in found.tables if (one := _read(source, settings, events, any_tags=asked)) is not None]
    if read:
        used = {source.name for source, _ in read}
        for source in found.tables:
            if source.name not in used:
                found.ignored.add(source.name, "without tagged words")
        return read
    if asked:
        raise UserError(
            "no_tags", "No file of the dataset has words with a tag for each of them, which token-classification needs.",
            "Add a CoNLL file (a word and its tag in each line, an empty line after each sentence), or JSON lines with the lists tokens and tags.",
            f"Not used: {found.ignored}." if found.ignored else "",
        )  # fmt: skip
    return []


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    tagged = find(files.sources, settings, files.checks.events)
    if not tagged:
        return None
    size = sum(len(one.tagged) for _, one in tagged)
    return Claim(kind, FORM, size, f"{size} sentences with tags", tagged, frozenset(source.name for source, _ in tagged))


def _read(source: Input, settings, events: Events, untagged: bool = False, any_tags: bool = True) -> Found | None:
    kind = names.extension(source.name)
    try:
        with open(source.file, "rb") as f:
            head = f.read(_HEAD)
        if kind in _ROWS:
            if kind != names.PARQUET and not _LISTS.search(head):
                return None
            return forms.table(tables.read(source, set(), settings, events), untagged) if kind != names.PARQUET or _has_lists(source) else None
        if not _EMPTY_LINE.search(head):
            return None
        text, _ = decode(tables.content(source), settings.encoding)
    except (NotATable, NotText, OSError):
        return None
    return forms.conll(text.replace("\r\n", "\n"), untagged, any_tags)


def _has_lists(source: Input) -> bool:
    """Whether a Parquet file has columns of lists besides others."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(source.file) as opened:
            return any(pyarrow.types.is_list(f.type) or pyarrow.types.is_large_list(f.type) for f in opened.schema_arrow)
    except (pyarrow.ArrowException, OSError, ValueError):
        return False


def load(read: list[tuple[Input, Found]], inputs: tuple[Input, ...], ignored: Ignored, settings, checks: Checks) -> Dataset:
    """The data of a training; ``inputs`` are all files of the run. Raises UserError where there are too few sentences, or only one tag."""
    events = checks.events
    found_in = origins.of(source for source, _ in read)
    if settings.split != ordered.GROUP or not found_in.others:
        ordered.check_random(settings.split, "sentences")
    first = read[0][1]
    for source, found in read:
        if found.bad:
            checks.warning("bad_rows", f"{found.bad} rows of {source.name} are left out: their words and tags do not fit together.")
            checks.drop("words and tags do not fit together", found.bad)
        checks.drop("not all words have a tag", len(found.sentences) - len(found.tagged))
    checks.ignore(ignored.items())
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    for source, found in read:
        given[names.split_of(source.name) or "train"] += examples(source, found.tagged)
    chosen.check(inputs, given, checks.not_read)
    if not given["train"]:
        given = {**{n: [] for n in SPLITS}, "train": [e for rows in given.values() for e in rows]}
    if _numbers(given):
        events.decision("tags", "0", "The tags are numbers without names, and 0 is taken as the tag of words outside of all entities.")
        given = {
            n: [replace(e, target=" ".join(entities.OUTSIDE if t == "0" else t for t in e.target.split(" "))) for e in r] for n, r in given.items()
        }
    if entities.mixed([e.target.split(" ") for rows in given.values() for e in rows]):
        events.decision(
            "tags", "BIO", "Some sentences have tags with S- and E- for single words and ends, and others have not: all are read as B- and I-."
        )
        given = {n: [replace(e, target=" ".join(entities.plain(e.target.split(" ")))) for e in r] for n, r in given.items()}
    labels = tuple(sorted({t for rows in given.values() for e in rows for t in e.target.split(" ")}, key=names.natural))
    files = sorted(source.name for source, _ in read)
    if len(labels) < 2:
        raise UserError(
            "one_class",
            f"All words of {some(files, 3)} have the tag {some(labels)}, so there is nothing to predict.",
            "Add sentences with other tags.",
        )
    kinds = entities.types(labels)
    events.decision("task", TASK, f"The task is token classification: {some(files, 3)} {'has' if len(files) == 1 else 'have'} {first.form}.")
    events.decision(
        "labels", list(labels[:1000]), f"The model predicts one of {len(labels)} tags for each word; the types of entities are {some(kinds)}."
    )
    complete, keys = _split(origins.group(given, found_in, False, settings, None, checks).rows, settings, checks)
    audit.size(complete, checks)
    audit.overlap(complete, keys, checks)
    digest = splitting.digest(complete, keys)
    return Dataset(
        TASK, registry.of(KIND), complete, files, first.columns, first.label, labels,
        dropped=checks.dropped, not_read=checks.not_read, checks=checks.entries, split_sha256=digest,
    )  # fmt: skip


def examples(source: Input, sentences: list[Sentence]) -> list[Example]:
    return [Example(source.name, s.row, s.words, " ".join(s.tags if s.tags is not None else [UNKNOWN] * len(s.words))) for s in sentences if s.words]


def _numbers(given: dict[str, list[Example]]) -> bool:
    tags = {t for rows in given.values() for e in rows for t in e.target.split(" ")}
    return all(t.isdecimal() for t in tags) and "0" in tags


def _types(e: Example) -> set[str]:
    return {kind for _, _, kind in entities.spans(e.target.split(" "))}


def _split(given: dict[str, list[Example]], settings, checks: Checks) -> tuple[dict[str, list[Example]], Keys]:
    """The three splits. Sentences are dealt evenly by the rarest type of entity in them."""
    keys = Keys()
    given, back = splitting.by_rarest(given, _types, MIN_OF_TYPE, entities.OUTSIDE)
    given = subset.thin(given, settings.max_examples, keys, False, settings.seed, checks.events)
    found = duplicates.remove(given, keys, settings.duplicates, checks)
    total = sum(map(len, found.values()))
    if total < MIN_SENTENCES:
        raise UserError(
            "too_few_rows", f"There are only {total} tagged sentences, which is too few to train a model.",
            f"Add sentences: at least {MIN_SENTENCES}, better several hundred.",
        )  # fmt: skip
    found = splitting.hold_out(found, keys, settings, "sentences", "the types", "The file names", checks)
    whole = {n: [back[id(e)] for e in rows] for n, rows in found.items()}
    return whole, Keys()


def to_predict(found: Sources, settings, events: Events, columns: tuple[str, ...]) -> tuple[list[Example], list[str], int]:
    """The sentences of a prediction: tagged or not, in any form; else the texts of a column of this name, else text files as they are."""
    all_found: list[Example] = []
    used: list[str] = []
    wanted = [settings.text_column.strip()] if settings.text_column.strip() else [*columns, "text"]
    for source in found.tables:
        one = None if settings.text_column.strip() else _read(source, settings, events, untagged=True)
        rows = examples(source, one.sentences) if one is not None else _texts(source, wanted, settings, events)
        if rows:
            all_found += rows
            used.append(source.name)
    if not all_found:
        for source in found.texts:
            if content := tuple(w for w, _, _ in words.split(folders.text(source, settings.encoding)))[: forms.MAX_WORDS]:
                all_found.append(Example(source.name, 0, content, " ".join([UNKNOWN] * len(content))))
                used.append(source.name)
    if all_found:
        events.decision("columns", list(columns), f"The model tags the words of {len(all_found)} sentences or texts of {some(used, 4)}.")
    return all_found, used, 0


def _texts(source: Input, wanted: list[str], settings, events: Events) -> list[Example]:
    try:
        table = tables.read(source, {w.lower() for w in wanted}, settings, events)
    except NotATable:
        return []
    column = next((w for w in wanted if not table.lacks([w])), None)
    if column is None:
        return []
    found = []
    for (row, _), cell in zip(table.rows, table.cells(column)):
        if content := tuple(w for w, _, _ in words.split(cell))[: forms.MAX_WORDS]:
            found.append(Sentence(row, content, None))
    return examples(source, found)
