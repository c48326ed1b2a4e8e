"""Installed vision models for pictures with another number of bands than the three colours that they learnt. Runs in workers."""

from typing import Any

from trainer.errors import UserError


def widened(model: Any, bands: int) -> Any:
    """``model`` with a first layer that reads ``bands`` bands: each gets the mean of the filters of the colours, so that the sum stays the same."""
    import torch

    if bands == model.config.num_channels:
        return model
    first = next((m for m in model.modules() if isinstance(m, torch.nn.Conv2d)), None)
    if first is None or first.in_channels != model.config.num_channels or first.groups != 1:
        raise UserError(
            "model_unusable",
            f"The installed model reads {getattr(model.config, 'num_channels', 3)} colours, and the images have {bands} bands.",
            "Set model to small-cnn, which reads any bands.",
        )
    colours = first.in_channels
    mean = first.weight.detach().mean(dim=1, keepdim=True) * (colours / bands)
    first.weight = torch.nn.Parameter(mean.repeat(1, bands, 1, 1).contiguous())
    first.in_channels = bands
    for module in model.modules():
        if getattr(module, "num_channels", None) == colours:
            module.num_channels = bands  # by which it checks what it gets
    model.config.num_channels = bands
    return model
