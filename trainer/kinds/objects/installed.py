"""Installed detectors of transformers: DETR and its relatives, which answer a fixed number of boxes, and Mask2Former, which answers masks. Runs in
workers.

In training the model gets the objects that are right and computes its own loss, with its own matching of objects. All of it is in fp32: the
matching compares small differences. A delivered model is one of transformers, too: AutoModelForObjectDetection or
AutoModelForUniversalSegmentation loads its folder.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
import transformers
from torch import nn
from torch.nn import functional
from transformers.utils import ModelOutput

from trainer.core.plan import Plan
from trainer.errors import UserError
from trainer.kinds.objects.decoding import SIDES, STRIDE
from trainer.kinds.objects.outlines import DIRECTIONS, RAYS
from trainer.kinds.objects.pictures import GREY, SPREAD
from trainer.kinds.objects.target import Objects
from trainer.kinds.objects.tasks import OUTLINERS
from trainer.models import stems, transformer
from trainer.models.processor import PROCESSOR, normalisation
from trainer.run_folder import files

_BOXES, _MASKS = "AutoModelForObjectDetection", "AutoModelForUniversalSegmentation"
_INSIDE = 0.5  # probability from which a place belongs to an object
_FAR = 1e9  # more than any squared distance in a mask


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
        """With ``truth``, the objects of ``Pictures.batch``, the loss of each picture (their mean, for all the same). With ``places``, the scale and
        the size of each picture, objects (pictures x objects x (labels + 4)): probabilities of the labels, and the sides in pixels of the picture;
        behind them the points of the outline, where the model finds these."""
        with torch.autocast(pixels.device.type, enabled=False):
            values = pixels.float() * self.factor + self.summand
            if truth is not None:
                return Found(logits=self.loss(values, truth).expand(len(pixels)))
            assert places is not None
            probabilities, points = self.answers(values)
            limits = places[:, None, [1, 2]].repeat(1, 1, points.shape[-1] // 2)
            points = torch.minimum((points / places[:, None, :1]).clamp(min=0), limits)
            return Found(logits=torch.cat([probabilities, points], dim=-1))

    def loss(self, values: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
        """The mean loss of pictures."""
        held = [one[one[:, 0] >= 0] for one in truth]
        return self.inner(pixel_values=values, labels=[{"class_labels": one[:, 0].long(), "boxes": one[:, 1:].float()} for one in held]).loss

    def answers(self, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Probabilities of the labels (pictures x objects x labels), and points (x, y) in pixels of the input: two corners of the box."""
        out = self.inner(pixel_values=values)
        more = out.logits.shape[-1] > self.labels  # one for no object
        probabilities = out.logits.softmax(-1)[..., : self.labels] if more else out.logits.sigmoid()
        height, width = values.shape[-2:]
        middle, half = out.pred_boxes[..., :2], out.pred_boxes[..., 2:] / 2
        return probabilities, torch.cat([middle - half, middle + half], dim=-1) * values.new_tensor([width, height, width, height])


class Outliner(Detector):
    """A model that answers with a mask for each object. The outline is where rays from its middle leave the mask, as in the built-in model."""

    def loss(self, values: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
        held = [one[one[:, 0] >= 0] for one in truth]
        shape = (-1, values.shape[-2] // STRIDE, values.shape[-1] // STRIDE)
        masks = [one[:, 1:].reshape(shape).float() for one in held]
        return self.inner(pixel_values=values, mask_labels=masks, class_labels=[one[:, 0].long() for one in held]).loss

    def answers(self, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As of boxes; the points of the outline follow. A score is the probability of the label times the mean probability inside of the mask."""
        out = self.inner(pixel_values=values)
        masks = out.masks_queries_logits.sigmoid()
        inside = (masks > _INSIDE).float()
        sure = (masks * inside).sum((-2, -1)) / inside.sum((-2, -1)).clamp(min=1)
        probabilities = out.class_queries_logits.softmax(-1)[..., : self.labels] * sure[..., None]
        points = outlined(masks, inside) * (values.shape[-1] / masks.shape[-1])
        return probabilities, torch.cat([points.amin(-2), points.amax(-2), points.flatten(-2)], dim=-1)


def outlined(masks: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Where rays from the middle of each mask leave it (pictures x masks x rays x 2), in its places. The middle is the place of the mask that is
    nearest to the mean of all."""
    height, width = masks.shape[-2:]
    x, y = torch.arange(width, device=masks.device) + 0.5, torch.arange(height, device=masks.device)[:, None] + 0.5
    count = inside.sum((-2, -1), keepdim=True).clamp(min=1)
    away = (x - (inside * x).sum((-2, -1), keepdim=True) / count) ** 2 + (y - (inside * y).sum((-2, -1), keepdim=True) / count) ** 2
    nearest = (away + (1 - inside) * _FAR).flatten(-2).argmin(-1)
    middle = torch.stack([nearest % width, torch.div(nearest, width, rounding_mode="floor")], dim=-1) + 0.5
    steps = torch.arange(max(height, width), device=masks.device, dtype=masks.dtype)
    directions = torch.as_tensor(DIRECTIONS, dtype=masks.dtype, device=masks.device)
    places = middle[:, :, None, None] + directions[:, None] * steps[:, None]  # pictures x masks x rays x steps x 2
    grid = places / masks.new_tensor([width, height]) * 2 - 1
    seen = functional.grid_sample(masks.flatten(0, 1)[:, None], grid.flatten(0, 1), align_corners=False)[:, 0].unflatten(0, masks.shape[:2])
    first = ((seen <= _INSIDE).to(masks.dtype).cumsum(-1) == 0).sum(-1).clamp(1, len(steps) - 1)  # the step that is outside
    before, after = (seen.gather(-1, n[..., None])[..., 0] for n in (first - 1, first))
    distance = first - 1 + ((before - _INSIDE) / (before - after).clamp(min=1e-6)).clamp(0, 1)
    return middle[:, :, None] + distance[..., None] * directions


def build(plan: Plan) -> Detector:
    """The installed detector of ``plan`` with new last layers, which reads the bands of the pictures. Raises UserError."""
    bands, target = plan.shape["bands"], cast(Objects, plan.target)
    with transformer.usable(plan):
        config = transformer.configuration(plan)
        auto, made_by = _classes(config)
        known = type(config) in transformers.MODEL_FOR_OBJECT_DETECTION_MAPPING or made_by is Outliner
        if not known or (made_by is Outliner) != target.outlined:
            raise ValueError(f"models of type {config.model_type} find no {'outlines' if target.outlined else 'boxes'}")
        config.num_labels = len(target.labels)
        config.id2label = dict(enumerate(target.labels))
        config.label2id = {label: number for number, label in config.id2label.items()}
        if hasattr(config, "use_pretrained_backbone"):
            config.use_pretrained_backbone = False  # its weights are in the folder
        inner = transformer.with_weights(auto, config, plan)
        found = made_by(stems.widened(inner, bands, plan.kind.shape), *normalisation(plan.base.folder, bands))
    _try(found, plan)
    return found


def _classes(config: Any) -> tuple[Any, type[Detector]]:
    """The class of transformers that loads a model of ``config``, and the one around it."""
    outlines = config.model_type in OUTLINERS
    return getattr(transformers, _MASKS if outlines else _BOXES), (Outliner if outlines else Detector)


@torch.no_grad()
def _try(found: Detector, plan: Plan) -> None:
    """Raise UserError unless the model answers a picture of the size of the input with boxes, and learns from one."""
    height, width, _ = plan.shape["canvas"]
    masks, places = isinstance(found, Outliner), (height // STRIDE) * (width // STRIDE)
    pixels, truth = torch.zeros(1, plan.shape["bands"], height, width), torch.tensor([[[0.0, 0.5, 0.5, 0.3, 0.3]]])
    if masks:
        truth = torch.zeros(1, 1, 1 + places, dtype=torch.int16)
        truth[..., places // 2 :] = 1
        truth[..., 0] = 0
    try:
        logits = found.eval()(pixels, places=torch.tensor([[1.0, width, height]])).logits
        loss = found.train()(pixels, truth).logits
        fits = logits.ndim == 3 and logits.shape[-1] == found.labels + SIDES + 2 * RAYS * masks and bool(torch.isfinite(loss).all())
        why = "" if fits else f"its answer has the shape {tuple(logits.shape)}"
    except (ValueError, RuntimeError, TypeError, ImportError, AttributeError) as e:
        why = str(e).strip().split("\n")[0]
    if why:
        raise UserError(
            "model_unusable",
            f"The installed model {plan.base.name} cannot be trained to find objects in pictures.",
            f"Choose a model such as RT-DETR or Deformable DETR for boxes and Mask2Former for outlines, or set model to {plan.kind.shape}.",
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
    inner_class, made_by = (_MASKS, Outliner) if files.read_json(folder / "config.json")["model_type"] in OUTLINERS else (_BOXES, Detector)
    inner = transformer.load(inner_class, folder, None)
    return made_by(inner, tuple(described["image_mean"]), tuple(described["image_std"]))
