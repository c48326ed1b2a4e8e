"""Installed vision models for pictures with another number of bands than the three colours that they learnt. Runs in workers."""

from typing import Any

from trainer.errors import UserError


def widened(model: Any, bands: int, instead: str) -> Any:
    """``model`` with a first layer that reads ``bands`` bands: each gets the mean of the filters of the colours, so that the sum stays the same.

    Raises UserError where it has no such layer; ``instead`` is the model that a user can set then.
    """
    import torch

    first = next((m for m in model.modules() if isinstance(m, torch.nn.Conv2d)), None)
    configs = [c for c in (model.config, getattr(model.config, "backbone_config", None)) if getattr(c, "num_channels", None)]
    colours = configs[0].num_channels if configs else 0
    if bands == colours:
        return model
    if first is None or first.in_channels != colours or first.groups != 1:
        raise UserError(
            "model_unusable",
            f"The installed model reads {colours or 3} colours, and the images have {bands} bands.",
            f"Set model to {instead}, which reads any bands.",
        )
    mean = first.weight.detach().mean(dim=1, keepdim=True) * (colours / bands)
    first.weight = torch.nn.Parameter(mean.repeat(1, bands, 1, 1).contiguous())
    first.in_channels = bands
    for module in model.modules():
        if getattr(module, "num_channels", None) == colours:
            module.num_channels = bands  # by which it checks what it gets
    for config in configs:
        config.num_channels = bands
    return model
