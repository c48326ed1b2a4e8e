# needs: torch, transformers, numpy, pillow, tifffile
# holds: `model` is a detector of transformers, `model/pictures.json` says how pictures are scaled, and `model/trainer.json` from which score an object counts
import json
import numpy
import torch
from PIL import Image, ImageOps
from transformers import AutoModelForObjectDetection

model = AutoModelForObjectDetection.from_pretrained("model").eval()
config, target = json.load(open("model/pictures.json")), json.load(open("model/trainer.json"))["target"]
form, labels = json.load(open("model/preprocessor_config.json")), config["labels"]
height, width, _ = config["canvas"]

def read(file):
    """A picture as numbers from 0 to 255 (height x width x bands)."""
    if "bands" not in config:  # colours, with grey where a pixel is clear
        colours = ImageOps.exif_transpose(Image.open(file)).convert("RGBA")
        return numpy.asarray(Image.alpha_composite(Image.new("RGBA", colours.size, (127, 127, 127, 255)), colours).convert("RGB"))
    import tifffile
    pixels = tifffile.imread(file, key=0)
    pixels = numpy.moveaxis(pixels, 0, -1) if pixels.shape[0] == config["bands"] else pixels.reshape(*pixels.shape[:2], -1)
    scaled = (pixels[..., : config["bands"]].astype(float) - config["low"]) / numpy.subtract(config["high"], config["low"])
    return numpy.rint(numpy.where(numpy.isfinite(scaled), scaled.clip(0, 1) * 255, 127)).astype(numpy.uint8)

def overlap(a, b):
    shared = numpy.clip(numpy.minimum(a[2:], b[2:]) - numpy.maximum(a[:2], b[:2]), 0, None).prod()
    return shared / max(numpy.subtract(a[2:], a[:2]).prod() + numpy.subtract(b[2:], b[:2]).prod() - shared, 1e-9)

def predict(file):
    """The objects in a picture, the surest first: the label, the score and the box (left, top, right, bottom)."""
    pixels = read(file)
    high, wide = pixels.shape[:2]
    scale = min(height / high, width / wide, 2.0)
    size = max(1, round(wide * scale)), max(1, round(high * scale))
    how = Image.Resampling.BOX if size[0] < wide else Image.Resampling.BILINEAR
    padded = numpy.full((height, width, pixels.shape[2]), 127, numpy.float32)
    for band in range(pixels.shape[2]):
        padded[: size[1], : size[0], band] = Image.fromarray(numpy.ascontiguousarray(pixels[..., band])).resize(size, how)
    values = ((padded / 255 - form["image_mean"]) / form["image_std"]).astype(numpy.float32)
    with torch.inference_mode():
        answer = model(pixel_values=torch.from_numpy(values).permute(2, 0, 1)[None])
    logits, boxes = answer.logits[0], answer.pred_boxes[0].numpy()
    scores = (logits.softmax(-1)[:, : len(labels)] if logits.shape[-1] > len(labels) else logits.sigmoid()).numpy()
    corners = numpy.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], axis=1)
    corners = (corners * (width, height, width, height) / (size[0] / wide)).clip(0, (wide, high, wide, high))
    found = []
    for query, label in sorted(zip(*numpy.nonzero(scores >= target["threshold"])), key=lambda place: -scores[place]):
        box, score = corners[query], float(scores[query, label])
        over = [o["label"] for o in found if overlap(box, o["box"]) >= 0.6]
        if labels[label] not in over and len(found) < target["most"]:  # once; with a second label an object has half the score
            found.append({"label": labels[label], "score": score / 2 if over else score, "box": box})
    return sorted((o for o in found if o["score"] >= target["threshold"]), key=lambda o: -o["score"])

for each in predict("a picture of yours.png"):
    print(each["label"], f"{each['score']:.2f}", each["box"].round(1).tolist())
