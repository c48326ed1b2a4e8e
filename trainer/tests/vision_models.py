"""Small vision models with random weights, as an administrator would install them."""

import json
from pathlib import Path


def install(folder: Path, model, license: str = "", size: int = 64) -> Path:
    """Save a model of transformers into ``folder``, with what says how its pictures are normalised."""
    model.save_pretrained(folder)
    wants = {"image_processor_type": "ViTImageProcessor", "size": {"height": size, "width": size}}
    wants |= {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}
    (folder / "preprocessor_config.json").write_text(json.dumps(wants))
    if license:
        (folder / "README.md").write_text(f"---\nlicense: {license}\n---\n")
    return folder


def segformer(whole: bool = True):
    """A SegFormer for semantic segmentation, or its encoder with the head of a classifier."""
    import torch
    from transformers import SegformerConfig, SegformerForImageClassification, SegformerForSemanticSegmentation

    torch.manual_seed(0)
    config = SegformerConfig(
        hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16, num_labels=7
    )
    return (SegformerForSemanticSegmentation if whole else SegformerForImageClassification)(config)


def resnet():
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(0)
    config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], layer_type="basic", num_labels=7)
    return ResNetForImageClassification(config)


def vit():
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    torch.manual_seed(0)
    config = ViTConfig(image_size=32, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    return ViTForImageClassification(config)
