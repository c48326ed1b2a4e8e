"""Installed detectors of transformers: DETR and its relatives, which answer a fixed number of boxes. Runs in workers.

In training the model gets the boxes that are right and computes its own loss, with its own matching of boxes. All of it is in fp32: the matching
compares small differences. A delivered model is one of transformers, too: AutoModelForObjectDetection loads its folder.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
import transformers
from torch import nn
from transformers.utils import ModelOutput

from trainer.core.plan import Plan
from trainer.errors import UserError
from trainer.kinds.objects.decoding import SIDES
from trainer.kinds.objects.pictures import GREY, SPREAD
from trainer.kinds.objects.target import Objects
from trainer.models import stems, transformer
from trainer.models.processor import PROCESSOR, normalisation
from trainer.run_folder import files

_AUTO = "AutoModelForObjectDetection"


@dataclass
class Found(ModelOutput):
    """Losses of pictures, or boxes: see ``Detector.forward``."""

    logits: torch.Tensor | None = None


class Detector(nn.Module):
    """``inner`` reads pictures that are normalised by ``mean`` and ``std`` (of values from 0 to 1, by band)."""

    factor: torch.Tensor
    summand: torch.Tensor

    def __init__(self, inner: Any, mean: tuple[float, ...], std: tuple[float, ...]):
        super().__init__()
        self.inner, self.mean, self.std, self.labels = inner, mean, std, inner.config.num_labels
        scale = torch.tensor(std)
        self.register_buffer("factor", (SPREAD / 255 / scale)[:, None, None], persistent=False)
        self.register_buffer("summand", ((GREY / 255 - torch.tensor(mean)) / scale)[:, None, None], persistent=False)

    @property
    def base_model(self) -> nn.Module:
        """What can be frozen: everything but the last layers."""
        return self.inner.base_model

    def forward(self, pixels: torch.Tensor, truth: torch.Tensor | None = None, places: torch.Tensor | None = None) -> Found:
        """With ``truth``, the boxes of ``Pictures.batch``, the loss of each picture (their mean, for all the same). With ``places``, the scale and
        the size of each picture, boxes (pictures x boxes x (labels + 4)): probabilities of the labels, and the sides in pixels of the picture."""
        with torch.autocast(pixels.device.type, enabled=False):
            values = pixels.float() * self.factor + self.summand
            if truth is not None:
                loss = self.inner(pixel_values=values, labels=[_of_picture(one) for one in truth]).loss
                return Found(logits=loss.expand(len(pixels)))
            assert places is not None
            out = self.inner(pixel_values=values)
            more = out.logits.shape[-1] > self.labels  # one for no object
            probabilities = out.logits.softmax(-1)[..., : self.labels] if more else out.logits.sigmoid()
            height, width = values.shape[-2:]
            middle, half = out.pred_boxes[..., :2], out.pred_boxes[..., 2:] / 2
            corners = torch.cat([middle - half, middle + half], dim=-1) * values.new_tensor([width, height, width, height])
            corners = (corners / places[:, None, :1]).clamp(min=0)
            return Found(logits=torch.cat([probabilities, torch.minimum(corners, places[:, None, [1, 2, 1, 2]])], dim=-1))


def _of_picture(truth: torch.Tensor) -> dict[str, torch.Tensor]:
    held = truth[truth[:, 0] >= 0]
    return {"class_labels": held[:, 0].long(), "boxes": held[:, 1:].float()}


def build(plan: Plan) -> Detector:
    """The installed detector of ``plan`` with new last layers, which reads the bands of the pictures. Raises UserError."""
    bands, target = plan.shape["bands"], cast(Objects, plan.target)
    with transformer.usable(plan):
        config = transformer.configuration(plan)
        if type(config) not in transformers.MODEL_FOR_OBJECT_DETECTION_MAPPING:
            raise ValueError(f"models of type {config.model_type} find no boxes")
        config.num_labels = len(target.labels)
        config.id2label = dict(enumerate(target.labels))
        config.label2id = {label: number for number, label in config.id2label.items()}
        if hasattr(config, "use_pretrained_backbone"):
            config.use_pretrained_backbone = False  # its weights are in the folder
        inner = transformer.with_weights(getattr(transformers, _AUTO), config, plan)
        found = Detector(stems.widened(inner, bands, plan.kind.shape), *normalisation(plan.base.folder, bands))
    _try(found, plan)
    return found


@torch.no_grad()
def _try(found: Detector, plan: Plan) -> None:
    """Raise UserError unless the model answers a picture of the size of the input with boxes, and learns from one."""
    height, width, _ = plan.shape["canvas"]
    pixels, truth = torch.zeros(1, plan.shape["bands"], height, width), torch.tensor([[[0.0, 0.5, 0.5, 0.3, 0.3]]])
    try:
        logits = found.eval()(pixels, places=torch.tensor([[1.0, width, height]])).logits
        loss = found.train()(pixels, truth).logits
        fits = logits.ndim == 3 and logits.shape[-1] == found.labels + SIDES and bool(torch.isfinite(loss).all())
        why = "" if fits else f"its answer has the shape {tuple(logits.shape)}"
    except (ValueError, RuntimeError, TypeError, ImportError, AttributeError) as e:
        why = str(e).strip().split("\n")[0]
    if why:
        raise UserError(
            "model_unusable",
            f"The installed model {plan.base.name} cannot be trained to find boxes in pictures.",
            f"Choose a detector such as RT-DETR, Deformable DETR or DETR, or set model to {plan.kind.shape}.",
            why[:300],
        )


def save(model: Detector, folder: Path) -> None:
    """Write the weights, the configuration and what says how pictures are normalised, in the form of transformers."""
    folder.mkdir(exist_ok=True)
    model.inner.save_pretrained(folder, safe_serialization=True)
    described = {
        "image_processor_type": "DetrImageProcessor", "do_resize": False, "do_pad": False, "do_rescale": True, "rescale_factor": 1 / 255,
        "do_normalize": True, "image_mean": list(model.mean), "image_std": list(model.std),
    }  # fmt: skip
    files.write_json(folder / PROCESSOR, described)


def load(folder: Path) -> Detector:
    described = files.read_json(folder / PROCESSOR)
    inner = transformer.load(_AUTO, folder, None)
    return Detector(inner, tuple(described["image_mean"]), tuple(described["image_std"]))
