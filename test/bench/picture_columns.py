"""What vectors of pictures bring to a model of a table, on tables that are made here: python picture_columns.py [--seeds 0,1,2] [--rows 600].

Each row has a picture with one of four shapes, of any colour, size, angle and place on noise, and a number. The class is whether the shape is a ring
or a cross, or the number is large; 3 % of the classes are wrong. It is told by the number alone, with the 14 numbers of the picture beside it, and
with the vectors of two small ResNets: one with random weights, and one that was trained here on pictures of six other shapes. The figures are the log
loss and the accuracy of the delivered model on 1,000 new rows, their means over the seeds.
"""

import argparse
import hashlib
import io
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy
import torch
import transformers
from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from trainer.config.settings import FORM
from trainer.run import run

SIDE, TEST = 64, 1_000
SHAPES, OTHERS = ("ring", "cross", "frame", "angle"), ("disc", "triangle", "diamond", "kite", "square", "dots")
EPOCHS, PICTURES = 6, 3_000  # of the encoder that is trained
WAYS = {
    "the number alone": "",
    "with the 14 numbers": "",
    "with vectors, random weights": "bench/random",
    "with vectors, other shapes": "bench/shapes",
}


def drawn(shape: str, draw: numpy.random.Generator) -> Image.Image:
    """A picture with one shape, turned by any angle."""
    back, fore = draw.integers(40, 216, (2, 3))
    while abs(back.mean() - fore.mean()) < 40:
        back, fore = draw.integers(40, 216, (2, 3))
    image = Image.fromarray(numpy.clip(back + draw.normal(0, 12, (SIDE, SIDE, 3)), 0, 255).astype(numpy.uint8))
    size = int(draw.integers(18, 30))
    mask, wide, end = Image.new("L", (2 * size, 2 * size)), max(3, size // 6), 3 * size // 2
    pen, start, middle = ImageDraw.Draw(mask), size // 2, size
    box = (start, start, end, end)
    if shape in ("ring", "disc"):
        pen.ellipse(box, fill=255 if shape == "disc" else 0, outline=255, width=wide)
    elif shape in ("square", "frame"):
        pen.rectangle(box, fill=255 if shape == "square" else 0, outline=255, width=wide)
    elif shape == "cross":
        pen.line((start, middle, end, middle), 255, wide)
        pen.line((middle, start, middle, end), 255, wide)
    elif shape == "angle":
        pen.line((start, end - wide, end, end - wide), 255, wide)
        pen.line((start + wide, start, start + wide, end), 255, wide)
    elif shape == "dots":
        for at in range(start, end, 3 * wide):
            pen.ellipse((at, at, at + 2 * wide, at + 2 * wide), fill=255)
    else:
        diamond = [(middle, start), (end - size // 4, middle), (middle, end), (start + size // 4, middle)]
        pen.polygon({"triangle": [(start, end), (end, end), (middle, start)], "kite": [*diamond[:2], diamond[3]]}.get(shape, diamond), fill=255)
    mask = mask.rotate(draw.uniform(0, 360), Image.Resampling.BILINEAR)
    x, y = (int(v) for v in draw.integers(-size // 2, SIDE - 3 * size // 2, 2))
    image.paste(tuple(int(v) for v in fore), (x, y), mask)
    return image


def install(models: Path, name: str, is_trained: bool) -> None:
    """A small ResNet in the files of an installed model."""
    torch.manual_seed(0)
    sizes = {"embedding_size": 16, "hidden_sizes": [16, 32, 64], "depths": [1, 1, 1], "layer_type": "basic", "num_labels": len(OTHERS)}
    model = transformers.ResNetForImageClassification(transformers.ResNetConfig(**sizes))
    draw = numpy.random.default_rng(99)
    labels = torch.from_numpy(draw.integers(0, len(OTHERS), PICTURES))
    pixels = numpy.stack([numpy.asarray(drawn(OTHERS[i], draw), numpy.float32) for i in labels.tolist()])
    values = torch.from_numpy((pixels / 255 - 0.5) / 0.25).permute(0, 3, 1, 2)
    rule = torch.optim.AdamW(model.parameters(), 3e-3)
    for _ in range(EPOCHS if is_trained else 1):
        for rows in torch.randperm(PICTURES).split(64):
            if is_trained:
                rule.zero_grad()
                model(values[rows], labels=labels[rows]).loss.backward()
                rule.step()
            else:
                model.train()(values[rows])  # its normalisations see pictures
    folder = models / name
    model.save_pretrained(folder)
    told = {"image_processor_type": "ViTImageProcessor", "size": {"height": SIDE, "width": SIDE}, "image_mean": [0.5] * 3, "image_std": [0.25] * 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(told))


def table(folder: Path, rows: int, seed: int) -> None:
    """train.csv, test.csv and the pictures that they name."""
    draw = numpy.random.default_rng(seed)
    for name, count in (("train", rows), ("test", TEST)):
        lines = ["photo,depth,found"]
        for i in range(count):
            shape, depth = SHAPES[draw.integers(len(SHAPES))], draw.normal()
            with io.BytesIO() as file:
                drawn(shape, draw).save(file, "PNG")
                (folder / f"{name}{i}.png").write_bytes(file.getvalue())
            is_found = shape in SHAPES[:2] or depth > 1.0
            lines.append(f"{name}{i}.png,{depth:.8f},{'yes' if is_found != (draw.random() < 0.03) else 'no'}")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def one(shared: Path, data: Path, way: str, seed: int) -> tuple[float, float, float]:
    """The log loss, the accuracy and the CPU seconds of a training."""
    folder = shared / "runs" / f"{seed}-{list(WAYS).index(way)}"
    (folder / "inputs").mkdir(parents=True)
    for file in data.iterdir():
        if way != "the number alone" or file.suffix == ".csv":
            os.link(file, folder / "inputs" / file.name)
    asked = {"task": "tabular-classification", "label_column": "found", "seed": seed, "picture_vectors": WAYS[way] or "none"}
    inputs = [
        {"id": f.name, "name": f.name, "path": f.name, "size": f.stat().st_size, "sha256": hashlib.sha256(f.read_bytes()).hexdigest()}
        for f in sorted((folder / "inputs").iterdir())
    ]
    spec = {
        "schema": 3, "kind": "train", "run": folder.name, "attempt": 1, "dataset": {"id": "d", "name": "bench"}, "inputs": inputs,
        "settings": asked, "sources": dict.fromkeys(asked, FORM),
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    began = time.process_time()
    if run(str(folder / "spec.json"), "local"):
        sys.exit((folder / "events.jsonl").read_text()[-2_000:])
    scores = json.loads((folder / "result.json").read_text())["metrics"]["test"]
    return scores["loss"]["value"], scores["accuracy"]["value"], time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--rows", type=int, default=600)
    asked = parser.parse_args()
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as place:
        shared = Path(place) / "shared"
        for name in ("bench/random", "bench/shapes"):
            install(shared / "models", name, name == "bench/shapes")
        for seed in map(int, asked.seeds.split(",")):
            data = Path(place) / f"data{seed}"
            data.mkdir()
            table(data, asked.rows, seed)
            for way in WAYS:
                found[way].append(one(shared, data, way, seed))
    print("| columns | loss | accuracy | CPU s |\n|---|---|---|---|")
    for way, scores in found.items():
        loss, accuracy, seconds = numpy.mean(scores, axis=0)
        print(f"| {way} | {loss:.3f} | {accuracy:.3f} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
