# needs: transformers, torch, pillow
# holds: `model/` is a folder in the format of the transformers library
import json
import numpy
import torch
from PIL import Image, ImageOps
from transformers import AutoModelForImageClassification

config = json.load(open("model/preprocessor_config.json"))
model = AutoModelForImageClassification.from_pretrained("model").eval()
size = (config["size"]["width"], config["size"]["height"])

def predict(file):
    image = ImageOps.exif_transpose(Image.open(file)).convert("RGB").resize(size, Image.Resampling.BILINEAR)
    values = (numpy.asarray(image) / 255 - config["image_mean"]) / config["image_std"]
    with torch.inference_mode():
        return float(model(torch.tensor(values.transpose(2, 0, 1)[None], dtype=torch.float32)).logits[0, 0])

print(predict("a picture of yours.png"))
