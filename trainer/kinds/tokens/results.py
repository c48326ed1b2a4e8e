"""The parts of the results that only models of tagged words have: entities, and the words that mistakes and predictions are about."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy

from trainer.core import blocks, registry
from trainer.core.blocks import COUNT, RESULT, Cell, Column, Marked, Part, Section
from trainer.core.example import Dataset, Example
from trainer.data.origins import ONE, Origins
from trainer.export import display, score_cells
from trainer.export.finished import Finished
from trainer.kinds.tokens import entities
from trainer.kinds.tokens.reading import UNKNOWN
from trainer.targets import promise
from trainer.targets.target import Target

_CONFUSED = 20  # pairs of types in a report
_NONE = "no entity"
_MEANING = (
    "Precision: the share of the predicted entities that are right. Recall: the share of the true entities that the model finds. "
    "The metrics of the other tables count words."
)
EXAMPLES = 12  # sentences with marked entities in a report
_AROUND = 8  # words on either side of one that is shown


class Words(Sequence):
    """The words of sentences as examples of their own, made when they are asked for: the content is the word among its neighbours."""

    def __init__(self, sentences: Sequence[Example]):
        self.sentences = sentences
        self._first = numpy.concatenate([[0], numpy.cumsum([len(e.content) for e in sentences])]).astype(numpy.int64)

    def __len__(self) -> int:
        return int(self._first[-1])

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        i = int(numpy.searchsorted(self._first, index, "right")) - 1
        e, place = self.sentences[i], int(index) - int(self._first[i])
        tag = e.target.split(" ")[place]
        return Example(e.file, e.row, _among(e.content, place), "" if tag == UNKNOWN else tag, e.id)

    def parts(self, values) -> list[list]:
        """``values`` of all words, in one list for each sentence."""
        return [list(values[a:b]) for a, b in zip(self._first, self._first[1:])]


def _among(words: tuple[str, ...], place: int) -> str:
    before, after = words[max(0, place - _AROUND) : place], words[place + 1 : place + 1 + _AROUND]
    return " ".join([*["…"] * (place > _AROUND), *before, f"[{words[place]}]", *after, *["…"] * (place + 1 + _AROUND < len(words))])


def by_words(data: Dataset) -> Dataset:
    """``data`` with the words of the test sentences as its test examples."""
    return replace(data, splits={**data.splits, "test": cast(list[Example], Words(data.splits["test"]))})


def described(finished: Finished) -> dict | None:
    """How well entities are found in the test sentences; None without test sentences or types of entities."""
    target, test, seed = finished.prepared.plan.target, finished.outcome.answers["test"], finished.settings.seed
    simple = finished.simple.predictions
    words = Words(finished.data.splits["test"])
    if not len(test) or entities.OUTSIDE not in target.labels:
        return None
    truth, predicted = _tags(words, target, test.truth), _tags(words, target, test.predicted)
    found = entities.report(truth, predicted, seed)
    if not found["types"]:
        return None
    if simple is not None:
        found["baseline"] = entities.report(truth, _tags(words, target, simple.predicted), seed)["overall"]
    order = sorted(range(len(truth)), key=lambda i: (entities.spans(truth[i]) == entities.spans(predicted[i]), i))
    shown = sorted(order[: EXAMPLES // 2] + order[::-1][: EXAMPLES - EXAMPLES // 2])
    found["examples"] = [_marked(words.sentences[i], truth[i], predicted[i]) for i in dict.fromkeys(shown)]
    return found


def sections(finished: Finished) -> list[Section]:
    """The entities in the report."""
    found = described(finished)
    if found is None:
        return []
    every = found["overall"]
    said = (
        f"The model finds {every['right']:,} of {every['true']:,} entities with all their words and their type; "
        f"{every['right']:,} of its {every['predicted']:,} predictions are right."
    )
    if "baseline" in found:
        said += f" With the most frequent tag of each word, F1 is {found['baseline']['f1']['value']:.3f}."
    rows = [score_cells.row("all", every), *(score_cells.row(t["type"], t) for t in found["types"])]
    confused = [c for c in found["confusion"] if c["true"] != c["predicted"]][:_CONFUSED]
    columns = [Column("True"), Column("Predicted"), Column("Entities", COUNT)]
    mixed = [[Cell(c["true"] or _NONE), Cell(c["predicted"] or _NONE), Cell(value=c["count"])] for c in confused]
    return [
        Section(RESULT, "Entities", [
            blocks.table("", score_cells.columns("Type", "Entities"), rows, text=[said], note=_MEANING),
            *([blocks.table("Types that the model confuses", columns, mixed, folded=True)] if mixed else []),
            blocks.examples("Test sentences with their entities", [_shown(e) for e in found["examples"]]),
        ])
    ]  # fmt: skip


def _shown(example: dict) -> Marked:
    where = example["file"] + (f", row {example['row']}" if example["row"] else "")
    return Marked([_part(p) for p in example["parts"]], where)


def _part(part: dict) -> Part:
    true, said = part.get("true", ""), part.get("predicted", "")
    if true == said:
        return Part(part["text"], "right", true) if true else Part(part["text"] + " ")
    return Part(part["text"], "wrong", f"{true or _NONE}, predicted {said or _NONE}")


def _tags(words: Words, target: Target, values: numpy.ndarray) -> list[list[str]]:
    return [[target.labels[int(v)] for v in part] for part in words.parts(values)]


def _marked(e: Example, truth: list[str], predicted: list[str]) -> dict:
    """A sentence in parts, each with the type of the true and of the predicted entity that it belongs to."""
    length = min(len(e.content), 60)
    marks: list[list] = [["", -1, "", -1] for _ in range(length)]
    for spans, at in ((entities.spans(truth), 0), (entities.spans(predicted), 2)):
        for number, (start, end, kind) in enumerate(spans):
            for i in range(start, min(end, length)):
                marks[i][at : at + 2] = kind, number
    parts: list[dict] = []
    for i in range(length):
        if i and marks[i] == marks[i - 1]:
            parts[-1]["text"] += f" {e.content[i]}"
        else:
            true, _, said, _ = marks[i]
            parts.append({"text": e.content[i], **({"true": true} if true else {}), **({"predicted": said} if said else {})})
    for part in parts:
        part["text"] = display.short(part["text"])
    return {"file": e.file, "row": e.row, "parts": parts}


def summary(words: tuple[str, ...], tags: list[str]) -> str:
    """The entities of a sentence as one line."""
    return display.short("; ".join(f"{kind}: {' '.join(words[a:b])}" for a, b, kind in entities.spans(tags))) or "no entity"


def samples(words: Words, labels: tuple[str, ...], predicted: numpy.ndarray) -> list[dict]:
    """The first sentences of a prediction with the entities found in them."""
    found = []
    for e, said in zip(words.sentences[:EXAMPLES], words.parts(predicted)):
        tags = [labels[int(v)] for v in said]
        found.append(display.entry(e, registry.of("tokens"), (), predicted=summary(e.content, tags)))
    return found


def predictions(finished: Finished) -> str:
    """predictions.csv of a training: a line for each word of the test sentences."""
    test = finished.outcome.answers["test"]
    words, target = Words(finished.data.splits["test"]), finished.prepared.plan.target
    beside = promise.columns(target, test.probabilities)
    return table(words, target.labels, test.predicted, test.confidence, test.likelihood, beside, finished.origins)


def table(
    words: Words,
    labels: tuple[str, ...],
    predicted: numpy.ndarray,
    confidence: numpy.ndarray,
    likelihood: numpy.ndarray | None,
    beside: Mapping[str, list[str]],
    origins: Origins = ONE,
) -> str:
    """predictions.csv: a line for each word, with the entity that begins there. ``row`` is where its sentence begins in the file; ``beside`` are
    further columns of the words."""
    knows = any(UNKNOWN not in e.target for e in words.sentences)
    head = [
        "file",
        "row",
        "word",
        "content",
        *["label"] * knows,
        "predicted",
        "entity",
        "confidence",
        *["probability of label"] * (likelihood is not None),
        *beside,
    ]
    return display.table(head, _lines(words, labels, predicted, confidence, likelihood, knows, beside), origins)


def _lines(words: Words, labels, predicted, confidence, likelihood, knows: bool, beside: Mapping[str, list[str]]):
    at = 0
    for e, said in zip(words.sentences, words.parts(predicted)):
        tags = [labels[int(v)] for v in said]
        begins = {start: f"{kind}: {' '.join(e.content[start:end])}" for start, end, kind in entities.spans(tags)}
        for i, (word, tag, true) in enumerate(zip(e.content, tags, e.target.split(" "), strict=True)):
            sure = [f"{confidence[at]:.4f}", *([f"{likelihood[at]:.4f}"] if likelihood is not None else [])]
            sure += [cells[at] for cells in beside.values()]
            yield [e.file, e.row, i + 1, word, *["" if true == UNKNOWN else true] * knows, tag, begins.get(i, ""), *sure]
            at += 1
