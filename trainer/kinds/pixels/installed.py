"""Installed models of transformers that answer for each pixel: those for semantic segmentation, and encoders of pictures under a new decoder.

Runs in workers. A model that was made for semantic segmentation keeps its decoder and gets a new last layer. An encoder that gives maps of
features gets the decoder of UperNet without its pools over the whole picture: so an answer depends on nothing beyond what the convolutions see.
A delivered model is one of transformers, too: AutoModelForSemanticSegmentation loads its folder.
"""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
import transformers
from torch import nn

from trainer.core.plan import Plan
from trainer.errors import UserError
from trainer.kinds.pixels.windows import MEAN, STD, STEP_OF_INSTALLED, multiple
from trainer.models import stems, transformer
from trainer.models.processor import PROCESSOR, normalisation
from trainer.run_folder import files

_DECODER = 128  # channels of the decoder of an encoder
_TRIED = (64, 96)  # height and width of a picture that a model must answer


class Installed(nn.Module):
    """``inner`` reads pictures that are normalised by ``mean`` and ``std`` (of values from 0 to 1, by band), and answers at a part of their size."""

    factor: torch.Tensor
    summand: torch.Tensor

    def __init__(self, inner: Any, mean: tuple[float, ...], std: tuple[float, ...]):
        super().__init__()
        self.inner, self.mean, self.std = inner, mean, std
        self.step, self.bands, self.outputs = STEP_OF_INSTALLED, len(mean), inner.config.num_labels
        scale = torch.tensor(std)
        self.register_buffer("factor", (STD / 255 / scale)[:, None, None], persistent=False)
        self.register_buffer("summand", ((MEAN / 255 - torch.tensor(mean)) / scale)[:, None, None], persistent=False)

    @property
    def multiple(self) -> int:
        """Width and height of what ``forward`` reads are multiples of this many pixels."""
        return multiple(self.step)

    @property
    def base_model(self) -> nn.Module:
        """The encoder, which can be frozen."""
        inner = self.inner
        return inner.backbone if hasattr(inner, "backbone") else inner.base_model

    def forward(self, pixel_values: torch.Tensor) -> Any:
        """``pixel_values`` is pictures x bands x height x width; the logits are pictures x height x width x outputs."""
        values = pixel_values * self.factor + self.summand
        alone = self.training and len(values) == 1  # norms of batches take no statistics from a single number
        logits = self.inner(pixel_values=torch.cat([values, values]) if alone else values).logits
        logits = F.interpolate(logits[:1] if alone else logits, size=pixel_values.shape[-2:], mode="bilinear", align_corners=False)
        return transformers.modeling_outputs.SemanticSegmenterOutput(logits=logits.permute(0, 2, 3, 1))


def build(plan: Plan) -> Installed:
    """The installed model of ``plan`` with a new last layer, which reads the bands of the pictures. Raises UserError."""
    bands = plan.shape["bands"]
    with transformer.usable(plan):
        inner = stems.widened(_of_base(plan), bands, plan.kind.shape)
        mean, std = normalisation(plan.base.folder, bands)
    found = Installed(inner, mean, std)
    _try(found, plan)
    return found


def _of_base(plan: Plan) -> Any:
    config = transformer.configuration(plan)
    if type(config) in transformers.MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING:
        _answer_with(config, plan)
        return transformer.with_weights(transformers.AutoModelForSemanticSegmentation, config, plan)
    if type(config) not in transformers.MODEL_FOR_BACKBONE_MAPPING:
        raise ValueError(f"models of type {config.model_type} do not answer for the places of a picture")
    config.out_features = [name for name in config.stage_names if name != "stem"][-4:]
    whole = transformers.UperNetConfig(backbone_config=config, hidden_size=_DECODER, pool_scales=[])
    _answer_with(whole, plan)
    found = transformers.UperNetForSemanticSegmentation(whole)
    found.backbone = transformer.with_weights(transformers.MODEL_FOR_BACKBONE_MAPPING[type(config)], config, plan)
    return found


def _answer_with(config: Any, plan: Plan) -> None:
    """Make ``config`` one with as many outputs as the target has, and without a second decoder, which some learn beside the first."""
    config.num_labels = plan.target.head
    config.id2label = dict(enumerate(plan.target.labels or ("number",)))
    config.label2id = {label: number for number, label in config.id2label.items()}
    if hasattr(config, "use_auxiliary_head"):
        config.use_auxiliary_head = False


@torch.no_grad()
def _try(found: Installed, plan: Plan) -> None:
    """Raise UserError unless the model answers a picture that is not as high as wide."""
    try:
        logits = found.eval()(torch.zeros(1, found.bands, *_TRIED)).logits
        answers = tuple(logits.shape) == (1, *_TRIED, plan.target.head)
        why = "" if answers else f"its answer has the shape {tuple(logits.shape)}"
    except (ValueError, RuntimeError, TypeError) as e:
        why = str(e).strip().split("\n")[0]
    if why:
        raise UserError(
            "model_unusable",
            f"The installed model {plan.base.name} does not answer for each pixel of pictures of any size.",
            f"Choose a model such as SegFormer, ResNet, Swin or ConvNeXT, or set model to {plan.kind.shape}.",
            why[:300],
        )


def save(model: Installed, plan: Plan, folder: Path) -> None:
    """Write the weights, the configuration and what says how pictures are normalised, in the form of transformers. A model of numbers is saved so
    that it answers in their unit."""
    folder.mkdir(exist_ok=True)
    rescaling = plan.target.rescaling()
    if rescaling is not None:
        factor, summand = rescaling
        last = [m for m in model.inner.modules() if isinstance(m, nn.Conv2d) and m.out_channels == model.outputs][-1]
        with torch.no_grad():
            last.weight.mul_(factor)
            last.bias.mul_(factor).add_(summand)
    model.inner.save_pretrained(folder, safe_serialization=True)
    described = {
        "image_processor_type": "SegformerImageProcessor", "do_resize": False, "do_rescale": True, "rescale_factor": 1 / 255,
        "do_normalize": True, "image_mean": list(model.mean), "image_std": list(model.std),
    }  # fmt: skip
    files.write_json(folder / PROCESSOR, described)


def load(folder: Path) -> Installed:
    described = files.read_json(folder / PROCESSOR)
    inner = transformer.load("AutoModelForSemanticSegmentation", folder, None)
    return Installed(inner, tuple(described["image_mean"]), tuple(described["image_std"]))
