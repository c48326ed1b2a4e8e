"""Files of tokens as passages, in the splits that their names stand for."""

import hashlib
from pathlib import Path

from trainer.core.example import SPLITS, Example
from trainer.core.input import Input
from trainer.data import names
from trainer.data.checks import Checks
from trainer.data.cut import END, Cut
from trainer.errors import UserError, some
from trainer.kinds.rows import token_vocabulary as tokens
from trainer.kinds.rows.token_vocabulary import Passage, TokenFile, Vocabulary
from trainer.run_folder import files

MIN_TOKENS = 2000
_PASSAGE, _SHORTEST, _MOST = 1024, 32, 20_000  # tokens of a passage, at least so many, and how many passages a file has at most
_ENOUGH = 100  # passages of a file, if it is long enough
_TOKENIZER_BYTES = 64 << 20


def read(sources: list[Input], settings, checks: Checks) -> dict[str, list[Example]]:
    """The passages of all files by split. Where no file is for validation or test, the end of each training file is held out.

    Raises UserError for files that hold something else, numbers that the vocabulary lacks, and too few tokens.
    """
    described = _vocabulary(sources, settings.vocab_size)
    by_split: dict[str, list[TokenFile]] = {name: [] for name in SPLITS}
    for source in sources:
        if names.extension(source.name) == names.TOKENS:
            by_split[names.chosen_split(source.name) or names.split_of(_base(source.name)) or "train"].append(
                tokens.inspect(source.file, source.name, described.size if described else 0)
            )
    every = [f for some_files in by_split.values() for f in some_files]
    vocabulary = described or tokens.assumed(every)
    for file in every:
        tokens.check(file, vocabulary)
    _check(by_split["train"])
    _explain(by_split, vocabulary, checks)
    missing = {n: f for n, f in (("validation", settings.validation_fraction), ("test", settings.test_fraction)) if not by_split[n] and f > 0}
    given: dict[str, list[Example]] = {name: [_example(p) for f in by_split[name] for p in _passages(f, vocabulary)] for name in SPLITS}
    if missing:
        given |= {"train": []}
        for file in by_split["train"]:
            for name, part in _held_out(_passages(file, vocabulary), missing).items():
                given[name] += [_example(p) for p in part]
        checks.cut = Cut(END)
        checks.events.decision("held_out", "end", f"The end of each training file is held out for {' and '.join(missing)}.")
    return given


def _vocabulary(sources: list[Input], given: int) -> Vocabulary | None:
    by_name = {_base(s.name).lower(): s.file for s in sources}
    if names.TOKENIZER in by_name and not given:
        return _of_tokenizer(by_name[names.TOKENIZER])
    return tokens.vocabulary(by_name.get(names.TOKEN_META), given)


def _of_tokenizer(path: Path) -> Vocabulary:
    from tokenizers import Tokenizer  # most runs need none

    try:
        tokenizer = Tokenizer.from_str(files.read_bytes(path, _TOKENIZER_BYTES).decode("utf-8"))
    except Exception as e:  # the library raises plain exceptions
        raise UserError("token_vocabulary", "tokenizer.json cannot be read as a tokenizer.", "Give vocab_size instead.", str(e)) from e
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return Vocabulary(tokenizer.get_vocab_size(), None, names.TOKENIZER, tokenizer)


def _check(train: list[TokenFile]) -> None:
    total = sum(f.count for f in train)
    if total < MIN_TOKENS or max(f.highest for f in train) == 0:
        what = f"The training files have only {total:,} tokens" if total < MIN_TOKENS else "All tokens of the training files are the same"
        raise UserError("too_few_rows", f"{what}, which is too little to train a model.", f"Give at least {MIN_TOKENS:,} tokens, better a million.")


def _explain(by_split: dict[str, list[TokenFile]], vocabulary: Vocabulary, checks: Checks) -> None:
    used = [f"{some([f.name for f in found], 3)} ({sum(f.count for f in found):,} tokens) for {name}" for name, found in by_split.items() if found]
    checks.events.decision("token_files", used, f"Files of tokens are used: {'; '.join(used)}.")
    texts = "with a text for each" if vocabulary.pieces or vocabulary.tokenizer else "without texts, so that numbers are shown instead"
    checks.events.decision("vocab_size", vocabulary.size, f"The vocabulary has {vocabulary.size:,} entries by {vocabulary.source}, {texts}.")


def _passages(file: TokenFile, vocabulary: Vocabulary) -> list[Passage]:
    size = max(-(-file.count // _MOST), min(_PASSAGE, max(_SHORTEST, file.count // _ENOUGH)))
    mapped = file.read()
    bounds = [(a, min(file.count, a + size)) for a in range(0, file.count, size)]
    return [Passage(file, vocabulary, a, b, hashlib.sha256(mapped[a:b].tobytes()).hexdigest()) for a, b in bounds]


def _held_out(found: list[Passage], shares: dict[str, float]) -> dict[str, list[Passage]]:
    """The last passages by the shares, those for the test at the very end, and the rest for training."""
    left = found
    ends: dict[str, list[Passage]] = {}
    for name in ("test", "validation"):
        if name in shares:
            number = max(1, round(shares[name] * len(found)))
            left, ends[name] = left[:-number], left[-number:]
    return {"train": left, **ends}


def _example(passage: Passage) -> Example:
    return Example(passage.file.name, passage.begin, passage, "")


def _base(name: str) -> str:
    return name.rpartition("/")[2]
