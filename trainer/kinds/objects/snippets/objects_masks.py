# needs: torch, transformers, numpy, pillow, tifffile
# holds: `model` is a model of transformers that finds objects with their masks, `model/pictures.json` says how pictures are scaled, and `model/trainer.json` from which score an object counts
import json
import numpy
import torch
from PIL import Image, ImageOps
from transformers import AutoModelForUniversalSegmentation

model = AutoModelForUniversalSegmentation.from_pretrained("model").eval()
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

def predict(file):
    """The objects in a picture, the surest first: the label, the score and the mask (height x width). The table of the training has one outline in
    place of the mask, and each object once; here an object may be found with two labels."""
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
        masks = answer.masks_queries_logits.sigmoid()
        inside = (masks > 0.5).float()
        sure = (masks * inside).sum((-2, -1)) / inside.sum((-2, -1)).clamp(min=1)
        scores = (answer.class_queries_logits.softmax(-1)[..., : len(labels)] * sure[..., None])[0].numpy()
        whole = torch.nn.functional.interpolate(masks, size=(height, width), mode="bilinear")[..., : size[1], : size[0]]
        whole = torch.nn.functional.interpolate(whole, size=(high, wide), mode="bilinear")[0].numpy() > 0.5
    places = sorted(zip(*numpy.nonzero(scores >= target["threshold"])), key=lambda place: -scores[place])
    return [{"label": labels[label], "score": float(scores[query, label]), "mask": whole[query]} for query, label in places]

for each in predict("a picture of yours.png"):
    print(each["label"], f"{each['score']:.2f}", f"{each['mask'].sum()} pixels")
