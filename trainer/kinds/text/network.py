"""The encoder and the network of texts: an installed model, or a new one with the architecture of BERT-tiny."""

from pathlib import Path

from tokenizers import Tokenizer

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.contract.training import LinearFeatures
from trainer.core.example import Dataset
from trainer.core.plan import Plan
from trainer.models import texts, vocabulary
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events

_AUTO = "AutoModelForSequenceClassification"


def encoder(spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[texts.Encoder, Settings]:
    """Load or learn the tokenizer, and choose the maximum length of texts."""
    train = [e.content for e in data.splits["train"]]
    lower = settings.lower_case != "no"
    if base.folder is None:
        tokenizer, limit = vocabulary.learn([part for text in train for part in texts.parts(text)], lower), texts.MAX_POSITIONS
        size = tokenizer.get_vocab_size()
        events.decision("vocabulary", size, f"A vocabulary of {size} word pieces is learned from the training texts.")
    else:
        tokenizer, limit = vocabulary.installed(base.folder), texts.position_limit(base)
    lengths = [len(e.ids) for e in texts.encodings(tokenizer, train)]
    length, settings = texts.max_length(settings, lengths, limit, events)
    description = {
        "max_length": length,
        "pad_id": texts.pad_id(tokenizer, base),
        "padding": settings.padding,
        "truncation_side": settings.truncation_side,
        "long_text": settings.long_text,
        "stride": settings.stride,
        "lower_case": lower,
    }
    return texts.Encoder(tokenizer, description, base), settings


def load_encoder(spec: Spec | None, folder: Path, description: dict) -> texts.Encoder:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    return texts.Encoder(tokenizer, description)


def linear_features(data: Dataset, max_width: int) -> LinearFeatures:
    from trainer.measure.tfidf import TfIdf

    joined = {n: [" ".join(texts.parts(e.content)) for e in examples] for n, examples in data.splits.items()}
    terms = TfIdf.learn(joined["train"], max_width)
    return LinearFeatures({n: terms.features(t) for n, t in joined.items()}, terms, "bag of words")


def build(plan: Plan):
    """The installed base model, or a new model with the architecture of BERT-tiny."""
    from trainer.models import transformer

    if plan.base.folder is not None:
        return transformer.from_base(_AUTO, plan, pad_token_id=plan.shape["pad_id"])
    # The module itself and not the package: the package's lazy loading touches more of the library.
    from transformers.models.bert.modeling_bert import BertForSequenceClassification

    return BertForSequenceClassification(texts.tiny(plan))


def build_frozen(plan: Plan):
    """The installed base model under a linear head on its mean vectors; None if it cannot have one."""
    from trainer.models import mean_pooled

    return mean_pooled.build(plan.base.folder, plan.target.outputs)


def load(folder: Path, like=None):
    from trainer.models import mean_pooled, transformer

    if (folder / mean_pooled.HEAD).is_file():
        return mean_pooled.load(folder)
    return transformer.load(_AUTO, folder, like)


def save(model, plan: Plan, folder: Path) -> None:
    from trainer.models import mean_pooled, transformer

    if isinstance(model, mean_pooled.MeanPooled):
        model.save(folder)
    else:
        transformer.save(model, plan, folder)
