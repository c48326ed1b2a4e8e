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


def resnet(channels: int = 3):
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(0)
    shape = {"embedding_size": 8, "hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "layer_type": "basic"}
    config = ResNetConfig(**shape, num_channels=channels, num_labels=7)
    return ResNetForImageClassification(config)


def vit():
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    torch.manual_seed(0)
    config = ViTConfig(image_size=32, patch_size=8, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    return ViTForImageClassification(config)


def detr(family: str = "detr"):
    """A detector of the DETR family with a small ResNet: ``family`` is its type in transformers."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(family)
    backbone = {"embedding_size": 8, "hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 1, 1], "layer_type": "basic"}
    wide = {**backbone, "layer_type": "bottleneck"}
    if family == "mask2former":
        config = transformers.Mask2FormerConfig(
            backbone_config=transformers.ResNetConfig(**backbone, out_features=["stage1", "stage2", "stage3", "stage4"]), feature_size=32,
            mask_feature_size=32, hidden_dim=32, encoder_feedforward_dim=32, dim_feedforward=32, encoder_layers=1, decoder_layers=3,
            num_attention_heads=4, num_queries=20, train_num_points=256, num_labels=7,
        )  # fmt: skip
        return transformers.AutoModelForUniversalSegmentation.from_config(config)
    if family.startswith("rt_detr"):
        shape = {
            "backbone_config": transformers.RTDetrResNetConfig(**wide, out_features=["stage2", "stage3", "stage4"]), "d_model": 32,
            "encoder_hidden_dim": 32, "encoder_in_channels": [24, 32, 48], "decoder_in_channels": [32, 32, 32], "encoder_ffn_dim": 32,
            "decoder_ffn_dim": 32, "decoder_layers": 2, "num_queries": 30, "decoder_attention_heads": 4, "encoder_attention_heads": 4,
            "num_denoising": 10, "hidden_expansion": 0.5,
        }  # fmt: skip
    else:
        shape = {
            "backbone_config": transformers.ResNetConfig(**backbone, out_features=["stage4"]), "d_model": 32, "encoder_layers": 1,
            "decoder_layers": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
            "num_queries": 20, "auxiliary_loss": True,
        }  # fmt: skip
        if family == "deformable_detr":
            shape["backbone_config"] = transformers.ResNetConfig(**backbone, out_features=["stage2", "stage3", "stage4"])
            shape["num_feature_levels"] = 4
    config = type(config)(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, **shape, num_labels=7)
    return transformers.AutoModelForObjectDetection.from_config(config)
