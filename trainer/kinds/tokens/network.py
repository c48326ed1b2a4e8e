"""The networks for tagged words. Runs in workers."""

from pathlib import Path

from trainer.core.plan import Plan
from trainer.models import texts as text

_AUTO = "AutoModelForTokenClassification"


def build(plan: Plan):
    """The installed base model, or a new model with the architecture of BERT-tiny."""
    from trainer.models import transformer

    if plan.base.folder is not None:
        return transformer.from_base(_AUTO, plan, pad_token_id=plan.shape["pad_id"])
    from transformers.models.bert.modeling_bert import BertForTokenClassification

    return BertForTokenClassification(text.tiny(plan))


def load(folder: Path, like=None):
    from trainer.models import transformer

    return transformer.load(_AUTO, folder, like)
