"""Trainings from an installed model on made pictures, beside the built-in one: python installed.py TASK [--pictures 200] [--param epochs=25].

TASK is image-segmentation, object-detection or instance-segmentation. The installed model is small and has random weights, which the script
makes: so the table says whether the training of such models learns, and not what learnt weights are worth. The pictures have discs and squares
of one colour.
"""

import argparse
import json
import os
import tempfile
from pathlib import Path

import objects

os.environ["HF_HUB_OFFLINE"] = "1"
NAME = "made/small"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=sorted(MODELS))
    parser.add_argument("--pictures", type=int, default=200)
    parser.add_argument("--models", default=f"{NAME},auto")
    parser.add_argument("--param", action="append", default=[])
    args = parser.parse_args()
    print("| model | metric | test | simple models | minutes |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="installed-") as temporary:
        folder = objects.made(Path(temporary) / "pictures", args.pictures, alike=True)
        for model in args.models.split(","):
            parameters = {"task": args.task, "model": model, **dict(p.split("=", 1) for p in args.param)}
            result = objects.trained(folder, 0, parameters, before=install(args.task) if model == NAME else None)
            print(line(model, result), flush=True)


def line(model: str, result: dict) -> str:
    metric = result["metrics"]["chosen_by"] if "chosen_by" in result["metrics"] else next(iter(result["metrics"]["test"]))
    test = result["metrics"]["test"][metric]
    simple = ", ".join(f"{b['name']} {b['test'][metric]['value']:.3f}" for b in result["metrics"]["baselines"])
    return f"| {model} | {metric} | {test['value']:.3f} ({test['low']:.3f} to {test['high']:.3f}) | {simple} | {result['seconds'] / 60:.1f} |"


def install(task: str):
    """What saves the model for ``task`` into the folder of the installed ones."""

    def saved(models: Path) -> None:
        import torch

        torch.manual_seed(0)
        MODELS[task]().save_pretrained(models / NAME)
        wants = {"image_processor_type": "ViTImageProcessor", "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
        (models / NAME / "preprocessor_config.json").write_text(json.dumps(wants))

    return saved


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    shape = {"hidden_sizes": [16, 32, 64, 96], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 4, 4], "decoder_hidden_size": 64}
    return SegformerForSemanticSegmentation(SegformerConfig(**shape, hidden_dropout_prob=0.0, drop_path_rate=0.0, classifier_dropout_prob=0.0))


def detector():
    from transformers import RTDetrConfig, RTDetrForObjectDetection, RTDetrResNetConfig

    backbone = RTDetrResNetConfig(
        embedding_size=16, hidden_sizes=[32, 48, 64, 96], depths=[1, 1, 1, 1], layer_type="bottleneck", out_features=["stage2", "stage3", "stage4"]
    )
    shape = {"d_model": 64, "encoder_hidden_dim": 64, "encoder_in_channels": [48, 64, 96], "decoder_in_channels": [64, 64, 64], "decoder_layers": 3}
    shape |= {"encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "num_queries": 50, "num_denoising": 50, "hidden_expansion": 0.5}
    config = RTDetrConfig(backbone_config=backbone, use_pretrained_backbone=False, **shape, freeze_backbone_batch_norms=False)
    return RTDetrForObjectDetection(config)


def outliner():
    from transformers import Mask2FormerConfig, Mask2FormerForUniversalSegmentation, ResNetConfig

    stages = ["stage1", "stage2", "stage3", "stage4"]
    backbone = ResNetConfig(embedding_size=16, hidden_sizes=[32, 48, 64, 96], depths=[1, 1, 1, 1], layer_type="basic", out_features=stages)
    shape = {"feature_size": 64, "mask_feature_size": 64, "hidden_dim": 64, "encoder_feedforward_dim": 128, "dim_feedforward": 128}
    shape |= {"encoder_layers": 2, "decoder_layers": 4, "num_attention_heads": 4, "num_queries": 50, "train_num_points": 1024}
    return Mask2FormerForUniversalSegmentation(Mask2FormerConfig(backbone_config=backbone, **shape))


MODELS = {"image-segmentation": segformer, "object-detection": detector, "instance-segmentation": outliner}


if __name__ == "__main__":
    main()
