"""The plan: everything that the workers need to know, made by the driver from the data and the settings."""

import numpy
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from trainer import catalogue, vocabulary
from trainer.dataset import Dataset
from trainer.events import Events
from trainer.splits import NAMES
from trainer.spec import Spec
from trainer.vocabulary import Encoded

MAX_POSITIONS = 512  # of a model from scratch
PERCENTILE = 95


@dataclass(frozen=True)
class Plan:
    """What to train, on what and how. Plain values and arrays only: it travels between processes.

    ``learning_rate`` 0 means: by the size of the model, which is known once it is built. ``base_folder`` is None for a model
    from scratch, which then has ``vocabulary_size`` tokens.
    """

    run: str
    attempt: int
    folder: str
    base: str
    base_folder: str | None
    vocabulary_size: int
    pad_id: int
    max_length: int
    labels: tuple[str, ...]
    epochs: int
    batch_size: int
    learning_rate: float
    max_minutes: int
    seed: int
    splits: dict[str, Encoded]


@dataclass(frozen=True)
class Prepared:
    """The plan and what only the driver needs to write the results."""

    plan: Plan
    tokenizer: Tokenizer
    base: catalogue.Base
    truncated_share: float


def make(spec: Spec, data: Dataset, base: catalogue.Base, events: Events) -> Prepared:
    """Choose tokenizer and lengths, and encode the data."""
    texts = {n: [r.text for r in data.rows[n]] for n in NAMES}
    number = {label: i for i, label in enumerate(data.labels)}
    if base.folder is None:
        events.warning(
            "from_scratch",
            f"No base model is installed, so a small model ({base.name}) is trained from scratch on this data alone; "
            "an installed pretrained model would most likely do better.",
        )
        tokenizer, limit = vocabulary.learn(texts["train"]), MAX_POSITIONS
        events.decision("vocabulary", tokenizer.get_vocab_size(), f"A vocabulary of {tokenizer.get_vocab_size()} word pieces is learnt from the training texts.")
    else:
        tokenizer, limit = vocabulary.installed(base.folder), position_limit(base)
        events.decision("model", base.name, f"The installed model {base.name} is taken" + (", the smallest one." if spec.parameters.model == catalogue.AUTO else ", as asked."))
    encoded = {n: vocabulary.encode(tokenizer, texts[n], [number[r.label] for r in data.rows[n]]) for n in NAMES}
    max_length = _max_length(spec.parameters.max_length, encoded["train"], limit, events)
    cuts = {n: vocabulary.cut(e, max_length, _last(e)) for n, e in encoded.items()}
    share = sum(n for _, n in cuts.values()) / sum(len(e) for e in encoded.values())
    tokenizer.enable_truncation(max_length)
    plan = Plan(
        run=spec.run,
        attempt=spec.attempt,
        folder=str(spec.folder),
        base=base.name,
        base_folder=str(base.folder) if base.folder else None,
        vocabulary_size=tokenizer.get_vocab_size(),
        pad_id=_pad_id(tokenizer, base),
        max_length=max_length,
        labels=tuple(data.labels),
        epochs=spec.parameters.epochs,
        batch_size=spec.parameters.batch_size,
        learning_rate=spec.parameters.learning_rate,
        max_minutes=spec.parameters.max_minutes,
        seed=spec.parameters.seed,
        splits={n: e for n, (e, _) in cuts.items()},
    )
    return Prepared(plan, tokenizer, base, share)


def position_limit(base: catalogue.Base) -> int:
    """The longest text in tokens that an installed model can read."""
    config = base.config
    limits = [vocabulary.settings(base.folder).get("model_max_length")]
    positions = config.get("max_position_embeddings")
    if positions and config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        positions -= (config.get("pad_token_id") or 0) + 1  # these count positions from behind the padding id
    limits.append(positions)
    usable = [int(n) for n in limits if isinstance(n, (int, float)) and 0 < n < 100_000]
    return min(usable, default=MAX_POSITIONS)


def _max_length(wanted: int, train: Encoded, limit: int, events: Events) -> int:
    if wanted:
        length = max(3, min(wanted, limit))
        if length != wanted:
            events.warning("max_length", f"Texts are cut at {length} tokens instead of {wanted}: the model cannot read more.")
        return length
    usual = int(numpy.percentile(train.lengths, PERCENTILE, method="higher"))
    length = max(3, min(usual, limit))
    why = f"{PERCENTILE} % of the training texts have at most {usual} tokens"
    why += "" if length == usual else f", but the model reads at most {limit}"
    events.decision("max_length", length, f"Texts are cut at {length} tokens: {why}.")
    return length


def _last(encoded: Encoded) -> int | None:
    """The special token that ends every text, or None where the tokenizer adds none."""
    ends = numpy.unique(encoded.ids[encoded.offsets[1:] - 1])
    return int(ends[0]) if len(ends) == 1 else None


def _pad_id(tokenizer: Tokenizer, base: catalogue.Base) -> int:
    """The id to fill short texts with. It is masked out, so any id does for a model that has none of its own."""
    configured = base.config.get("pad_token_id") if base.folder else None
    if isinstance(configured, int):
        return configured
    for token in ("[PAD]", "<pad>"):
        if (found := tokenizer.token_to_id(token)) is not None:
            return found
    return 0
