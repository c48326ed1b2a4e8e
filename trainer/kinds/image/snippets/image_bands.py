# needs: transformers, torch, pillow, numpy, tifffile
# holds: `model/` is a folder in the format of the transformers library
import json
import numpy
import torch
from PIL import Image, ImageOps
from transformers import AutoModelForImageClassification

config = json.load(open("model/preprocessor_config.json"))
model = AutoModelForImageClassification.from_pretrained("model").eval()
size = (config["size"]["width"], config["size"]["height"])

def all_bits(file):
    image, lower = Image.open(file), Image.open(file)
    stored, pixels = image.tile[0][3], numpy.asarray(image)
    if pixels.dtype != numpy.uint8 or config["dtype"] != "uint16":
        return pixels
    lower.tile = [(*lower.tile[0][:3], stored.replace("16B", "16L"))]  # of a PNG of 16 bits in colours, Pillow gives only the upper 8 bits
    return pixels.astype(numpy.uint16) * 256 + numpy.asarray(lower)

def read(file):
    if "bands" not in config:  # colours, with grey where a pixel is clear
        colours = ImageOps.exif_transpose(Image.open(file)).convert("RGBA")
        grey = Image.new("RGBA", colours.size, (config["clear"],) * 3 + (255,))
        return numpy.asarray(Image.alpha_composite(grey, colours).convert("RGB").resize(size, Image.Resampling.BILINEAR), numpy.float32)
    import tifffile
    pixels = tifffile.imread(file, key=0) if str(file).lower().endswith((".tif", ".tiff")) else all_bits(file)
    pixels = numpy.moveaxis(pixels, 0, -1) if pixels.shape[0] == config["bands"] else pixels.reshape(*pixels.shape[:2], -1)
    scaled = (pixels[..., : config["bands"]].astype(float) - config["low"]) / numpy.subtract(config["high"], config["low"])
    scaled = numpy.where(numpy.isfinite(scaled), scaled.clip(0, 1) * 255, 127.5)  # do the same with other pixels that hold no data
    bands = [Image.fromarray(band.astype(numpy.float32)).resize(size, Image.Resampling.BILINEAR) for band in numpy.moveaxis(scaled, -1, 0)]
    return numpy.rint(numpy.stack(bands, axis=-1))

def predict(file):
    values = (read(file) / 255 - config["image_mean"]) / config["image_std"]
    with torch.inference_mode():
        answer = model(torch.tensor(values.transpose(2, 0, 1)[None], dtype=torch.float32)).logits[0]
    if model.config.problem_type == "multi_label_classification":
        target = json.load(open("model/trainer.json"))["target"]
        likely = (answer / target.get("temperature", 1.0)).sigmoid().tolist()
        return [label for label, p, least in zip(target["label_sets"], likely, target.get("thresholds") or [0.5] * len(likely)) if p >= least]
    return model.config.id2label[int(answer.argmax())] if len(answer) > 1 else float(answer[0])

print(predict("a picture of yours.tif"))
