# needs: torch, safetensors, numpy, pillow, tifffile
# holds: `model/model.safetensors` holds the weights of a U-Net, and `model/trainer.json` says how pictures are read and what the answers are
import json
import numpy
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import load_file

config, about = json.load(open("model/config.json")), json.load(open("model/trainer.json"))
weights, encoder, step = load_file("model/model.safetensors"), about["encoder"], config["step"]
labels, depths = about["target"].get("pixel_classes", []), len(config["widths"])

def conv(x, name):
    return F.conv2d(x, weights[name + ".weight"], weights.get(name + ".bias"), padding=weights[name + ".weight"].shape[-1] // 2)

def norm(x, name):
    return F.batch_norm(x, *(weights[f"{name}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")))

def block(x, name):
    inner = F.relu(norm(conv(x, name + ".first"), name + ".norms.0"))
    around = conv(x, name + ".around") if name + ".around.weight" in weights else x
    return F.relu(norm(conv(inner, name + ".second"), name + ".norms.1") + around)

def network(x):
    x, kept = conv(F.pixel_unshuffle(x, step), "stem"), []
    for i in range(depths):
        x = block(F.max_pool2d(x, 2) if i else x, f"down.{i}")
        kept.append(x)
    for i in range(depths - 1):
        x = block(torch.cat([F.interpolate(x, scale_factor=2.0), kept[-2 - i]], dim=1), f"up.{i}")
    return F.pixel_shuffle(conv(x, "head"), step)[0]

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
    lacking = [-n % (step << (depths - 1)) for n in (height, width)]
    padded = numpy.pad(pixels, ((0, lacking[0]), (0, lacking[1]), (0, 0)), mode="edge").astype(numpy.float32)
    with torch.inference_mode():
        answer = network(torch.from_numpy((padded - 127.5) / 63.75).permute(2, 0, 1)[None])[:, :height, :width]
    return answer.argmax(0).numpy() if labels else answer[0].numpy()

answer = predict("a picture of yours.png")
if labels:
    Image.fromarray(answer.astype(numpy.uint8)).save("the mask.png")
    for number, label in enumerate(labels):
        print(f"{(answer == number).mean():.1%} of the pixels are {label} ({number} in the mask)")
else:
    numpy.save("the numbers.npy", answer)
    print(f"the numbers are between {answer.min():g} and {answer.max():g}, {answer.mean():g} in the mean")
