"""Near copies of examples: what is nearly the same as another one, though not the same.

Where such copies are in training and in the test, a model that only remembers examples has a high score. Copies of one example are therefore kept in
one split. How copies are found is in pictures.py and texts.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy

from trainer.core.example import SPLITS, Example
from trainer.data.checks import Checks
from trainer.data.ordered import ORIGINALS, RANDOM, TIME, Rule
from trainer.errors import count

CODE = "near_copies"
MOST_OF_ALL = 0.2  # share of the examples (of a target) up to which those that look the same are copies
_FEW = 2  # examples that look the same and are copies in any case
_SHARE = 0.05  # of the examples of a given split, above which copies make its metrics too good


@dataclass(frozen=True)
class Words:
    """What the examples are, as one noun, and how near copies differ."""

    thing: str
    differ: str


def together(
    given: Mapping[str, Sequence[Example]],
    find: Callable[[list[Example], numpy.ndarray], numpy.ndarray],
    by_target: bool,
    split: str,
    rule: Rule | None,
    words: Words,
    checks: Checks,
) -> tuple[dict[str, Sequence[Example]], Rule]:
    """The examples with the group of each training example that has near copies, and how they are to be split.

    ``find`` gives pairs of examples that are nearly the same (pairs x 2), of examples and the codes of their targets; with ``by_target`` only those
    with the same target are copies. ``split`` is the setting of that name. Near copies between given splits are warned of.
    """
    rule = rule or Rule()
    rows = [e for name in SPLITS for e in given.get(name, ())]
    if len(rows) < 2:
        return {**given}, rule
    different = {e.content: e for e in rows}  # several rows of a table may name one picture
    of_content = dict(zip(different, _groups([*different.values()], find, by_target).tolist()))
    codes = numpy.array([of_content[e.content] for e in rows])
    parts = numpy.repeat(SPLITS, [len(given.get(name, ())) for name in SPLITS])
    _check_between(rows, codes, parts, words, checks)
    in_train = (parts == "train") & (codes >= 0)
    kept = numpy.flatnonzero(in_train & (numpy.bincount(codes[in_train], minlength=1 + max(0, codes.max()))[codes] > 1))
    if not len(kept) or rule.by == TIME or all(len(given.get(name, ())) for name in SPLITS):
        return {**given}, rule
    copy = next((i for i in kept[1:] if codes[i] == codes[kept[0]] and rows[i].content != rows[kept[0]].content), kept[0])
    what = (
        f"{count(len(kept), words.thing)} are nearly the same as others, for example {_name(rows[kept[0]])} and {_name(rows[copy])}: {words.differ}."
    )
    if split == RANDOM:
        checks.warning(CODE, f"{what} As data.split is random, copies are in training and in the test: the metrics are too good.")
        return {**given}, rule
    checks.events.decision(CODE, len(kept), f"{what} Near copies stay in one split.")
    train = _named(
        [e for e, part in zip(rows, parts) if part == "train"], numpy.where(numpy.isin(numpy.arange(len(rows)), kept), codes, -1)[parts == "train"]
    )
    return {**given, "train": train}, rule if rule.new or rule.whole else replace(rule, new=ORIGINALS)


def _groups(rows: list[Example], find: Callable[[list[Example], numpy.ndarray], numpy.ndarray], by_target: bool) -> numpy.ndarray:
    """A number for each example, the same for near copies; -1 for those without any. Where very many look the same, as before a fixed camera, as
    handwritten digits do or as forms that were filled in, they are no copies."""
    from scipy import sparse  # takes a second to import

    targets = numpy.unique([e.target for e in rows], return_inverse=True)[1] if by_target else numpy.zeros(len(rows), int)
    found = find(rows, targets)
    edges = sparse.coo_array((numpy.ones(len(found)), (found[:, 0], found[:, 1])), shape=(len(rows), len(rows)))
    codes = sparse.csgraph.connected_components(edges, directed=False)[1]
    sizes = numpy.bincount(codes)[codes]
    many = sizes > numpy.maximum(_FEW, MOST_OF_ALL * numpy.bincount(targets)[targets])
    copied = (sizes > 1) & ~many
    return numpy.where(copied & (many.sum() <= copied.sum()), codes, -1)


def _check_between(rows: Sequence[Example], codes: numpy.ndarray, parts: numpy.ndarray, words: Words, checks: Checks) -> None:
    """Say how many examples of a given split have near copies in training."""
    training = (codes >= 0) & numpy.isin(codes, codes[parts == "train"])
    for name in ("test", "validation"):
        found = numpy.flatnonzero((parts == name) & training)
        if not len(found):
            continue
        copy = numpy.flatnonzero((parts == "train") & (codes == codes[found[0]]))[0]
        is_or_are, total = "is" if len(found) == 1 else "are", int((parts == name).sum())
        say = checks.warning if len(found) > _SHARE * total else checks.ok
        say(
            CODE,
            f"{len(found)} of {total} {name} {words.thing}s {is_or_are} nearly the same as training {words.thing}s, for example "
            f"{_name(rows[found[0]])} and {_name(rows[copy])}: {words.differ}. The {name} metrics are too good. Keep copies in one split.",
        )


def _name(e: Example) -> str:
    return e.id or (f"row {e.row} of {e.file}" if e.row else e.file)


def _named(rows: Sequence[Example], codes: numpy.ndarray) -> list[Example]:
    """The examples with one group for near copies (of one code, none where it is negative), and for those that share a group with one of them."""
    from scipy import sparse

    names = [f"group {e.group}" if e.group else "" for e in rows]
    labels = {name: number for number, name in enumerate(dict.fromkeys([*filter(None, names), *(int(c) for c in codes if c >= 0)]))}
    edges = [(labels[name], labels[int(code)]) for name, code in zip(names, codes) if name and code >= 0]
    a, b = numpy.array(edges or [(0, 0)]).T
    joined = sparse.csgraph.connected_components(sparse.coo_array((numpy.ones(len(a)), (a, b)), shape=(len(labels),) * 2), directed=False)[1]
    first: dict[int, str] = {}
    found = []
    for e, name, code in zip(rows, names, codes):
        label = name or (int(code) if code >= 0 else None)
        found.append(e if label is None else replace(e, group=first.setdefault(int(joined[labels[label]]), e.group or f"{e.file} {e.row}")))
    return found
