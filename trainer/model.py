"""The torch model of a plan. Imported in workers only: transformers costs seconds."""

import json
from pathlib import Path

import torch

from trainer.errors import UserError
from trainer.plan import MAX_POSITIONS, Plan


def build(plan: Plan) -> torch.nn.Module:
    """A model that classifies into the labels of ``plan``: from the installed base model, or BERT-tiny-shaped and fresh.

    Fresh weights come from torch's generator, which the caller seeds. Embeddings start with a standard deviation of 0.02
    (BertConfig's initializer_range); torch's own default of 1 costs several points of accuracy.
    """
    names = {"id2label": dict(enumerate(plan.labels)), "label2id": {label: i for i, label in enumerate(plan.labels)}}
    if plan.base_folder is None:
        # The module itself and not the package: the package's lazy loading touches more of the library.
        from transformers.models.bert.configuration_bert import BertConfig
        from transformers.models.bert.modeling_bert import BertForSequenceClassification

        config = BertConfig(
            vocab_size=plan.vocabulary_size,
            hidden_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=512,
            max_position_embeddings=MAX_POSITIONS,
            pad_token_id=plan.pad_id,
            problem_type="single_label_classification",
            **names,
        )
        return BertForSequenceClassification(config)
    return _from_base(plan, names)


def _from_base(plan: Plan, names: dict) -> torch.nn.Module:
    from transformers import AutoConfig, AutoModelForSequenceClassification

    local = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.from_pretrained(plan.base_folder, num_labels=len(plan.labels), **names, **local)
        config.problem_type = "single_label_classification"
        if config.pad_token_id is None:
            config.pad_token_id = plan.pad_id
        return AutoModelForSequenceClassification.from_pretrained(
            plan.base_folder, config=config, use_safetensors=True, ignore_mismatched_sizes=True, dtype=torch.float32, **local
        )
    except (ValueError, KeyError, OSError, json.JSONDecodeError) as e:
        raise UserError(
            "model_unusable",
            f"The installed model {plan.base} cannot be used for text classification.",
            "Choose another model, or ask the administrator to check its files.",
            str(e).split("\n")[0],
        ) from e


def reload(model: torch.nn.Module, folder: Path) -> torch.nn.Module:
    """The model that was saved in ``folder``, of the same class as ``model``, read back from disk."""
    return type(model).from_pretrained(folder, local_files_only=True, use_safetensors=True, dtype=torch.float32)


def parameters(model: torch.nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def learning_rate(from_scratch: bool, size: int) -> tuple[float, str]:
    """The learning rate for a model of ``size`` parameters, with a sentence of reason."""
    if from_scratch:
        return 1e-3, "The learning rate is 0.001, which suits a small model from scratch."
    for limit, rate in ((10_000_000, 3e-4), (120_000_000, 5e-5)):
        if size <= limit:
            return rate, f"The learning rate is {rate:g}, which suits a model of {size / 1e6:.1f} million parameters."
    return 2e-5, f"The learning rate is 2e-05, which suits a model of {size / 1e6:.0f} million parameters."
