"""The networks for images: an installed vision model, or a small residual network. Runs in workers."""

from pathlib import Path

from trainer.core.plan import Plan

_AUTO = "AutoModelForImageClassification"


def build(plan: Plan):
    """The installed vision model, or a residual network of three stages with 0.3 million parameters."""
    from trainer.models import stems, transformer

    if plan.base.folder is not None:
        model = transformer.from_base(_AUTO, plan)
        return stems.widened(model, plan.shape["bands"], plan.kind.shape) if "bands" in plan.shape else model
    from transformers.models.resnet.configuration_resnet import ResNetConfig
    from transformers.models.resnet.modeling_resnet import ResNetForImageClassification

    shape = {
        "num_channels": plan.shape.get("bands", 3),
        "embedding_size": 32,
        "hidden_sizes": [32, 64, 128],
        "depths": [1, 1, 1],
        "layer_type": "basic",
        "hidden_act": "relu",
    }
    return ResNetForImageClassification(ResNetConfig(**shape, **plan.target.configuration()))


def load(folder: Path, like=None):
    from trainer.models import transformer

    return transformer.load(_AUTO, folder, like)
