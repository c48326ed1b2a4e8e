# needs: torch, transformers, numpy, pillow, tifffile
# holds: `model` is a model of transformers for semantic segmentation, and `model/trainer.json` says how pictures are read and what the answers are
import json
import numpy
import torch
from PIL import Image
from transformers import AutoModelForSemanticSegmentation

model = AutoModelForSemanticSegmentation.from_pretrained("model").eval()
about, form = json.load(open("model/trainer.json")), json.load(open("model/preprocessor_config.json"))
encoder, labels = about["encoder"], about["target"].get("pixel_classes", [])

def read(file):
    """A picture as numbers from 0 to 255 (height x width x bands)."""
    if "bands" not in encoder:
        return numpy.asarray(Image.open(file).convert("RGB"))
    import tifffile
    pixels = tifffile.imread(file, key=0)
    pixels = numpy.moveaxis(pixels, 0, -1) if pixels.shape[0] == encoder["bands"] else pixels.reshape(*pixels.shape[:2], -1)
    scaled = (pixels[..., : encoder["bands"]].astype(float) - encoder["low"]) / numpy.subtract(encoder["high"], encoder["low"])
    return numpy.rint(numpy.where(numpy.isfinite(scaled), scaled.clip(0, 1) * 255, 127)).astype(numpy.uint8)

def predict(file):
    """The number of the class of each pixel, in the order of the labels; of a model of numbers the number of each pixel."""
    pixels = read(file)
    height, width = pixels.shape[:2]
    padded = numpy.pad(pixels, ((0, -height % 32), (0, -width % 32), (0, 0)), mode="edge") / 255
    values = ((padded - form["image_mean"]) / form["image_std"]).astype(numpy.float32)
    with torch.inference_mode():
        answer = model(pixel_values=torch.from_numpy(values).permute(2, 0, 1)[None]).logits
        answer = torch.nn.functional.interpolate(answer, size=padded.shape[:2], mode="bilinear")[0, :, :height, :width]
    return answer.argmax(0).numpy() if labels else answer[0].numpy()

answer = predict("a picture of yours.png")
if labels:
    Image.fromarray(answer.astype(numpy.uint8)).save("the mask.png")
    for number, label in enumerate(labels):
        print(f"{(answer == number).mean():.1%} of the pixels are {label} ({number} in the mask)")
else:
    numpy.save("the numbers.npy", answer)
    print(f"the numbers are between {answer.min():g} and {answer.max():g}, {answer.mean():g} in the mean")
