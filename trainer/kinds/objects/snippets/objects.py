# needs: torch, safetensors, numpy, pillow, tifffile
# holds: `model/model.safetensors` holds the weights of a network of convolutions, `model/pictures.json` says how pictures are scaled, and `model/trainer.json` from which score an object counts
import json
import numpy
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from safetensors.torch import load_file

config, target = json.load(open("model/pictures.json")), json.load(open("model/trainer.json"))["target"]
weights, typical = load_file("model/model.safetensors"), json.load(open("model/config.json"))["typical"]
height, width, in_windows = config["canvas"]
labels, halo = config["labels"], min(height, width) // 4 // 32 * 32

def norm(x, name):
    return F.group_norm(x, x.shape[1] // 8, weights[name + ".weight"], weights[name + ".bias"])

def conv(x, name, stride=1):
    return F.silu(norm(F.conv2d(x, weights[name + ".0.weight"], None, stride, 1), name + ".1"))

def network(x):
    """Maps of a quarter of the size: a logit for each label, the distances to the sides of the box, and to the outline in 32 directions."""
    x, levels = conv(conv(x, "stem.0", 2), "stem.1", 2), []
    for i in range(4):
        for name in sorted({".".join(n.split(".")[:3]) for n in weights if n.startswith(f"stages.{i}.")}):
            if name + ".norm.weight" in weights:
                inner = F.conv2d(conv(x, name + ".first"), weights[name + ".second.weight"], None, 1, 1)
                x = F.silu(x + norm(inner, name + ".norm"))
            else:
                x = conv(x, name, 2)
        levels.append(F.conv2d(x, weights[f"laterals.{i}.weight"], weights[f"laterals.{i}.bias"]))
    joined = levels[3]
    for i in (2, 1, 0):
        joined = conv(levels[i] + F.interpolate(joined, scale_factor=2.0), f"joined.{i}")
    maps = F.conv2d(conv(joined, "head"), weights["last.weight"], weights["last.bias"])[0]
    return torch.cat([maps[: len(labels)].sigmoid(), typical * maps[len(labels) :].clamp(-4, 4).exp()])

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

def answered(pixels):
    """The maps of a picture: at once, or from windows that overlap by a halo."""
    side = [max(n, s) for n, s in zip(pixels.shape, (height, width))]
    if in_windows and max(pixels.shape[0] - height, pixels.shape[1] - width) > 0:
        side = [s - 2 * halo for s in (height, width)]
        side = [s * max(1, -(-(n - halo) // s)) + 2 * halo for n, s in zip(pixels.shape, side)]
    padded = numpy.full((*side, pixels.shape[2]), 127, numpy.float32)
    padded[: pixels.shape[0], : pixels.shape[1]] = pixels
    x = torch.from_numpy((padded - 127) / 64).permute(2, 0, 1)[None]
    if side == [height, width]:
        return network(x).numpy()
    maps = None
    for top in range(0, side[0] - height + 1, height - 2 * halo):
        for left in range(0, side[1] - width + 1, width - 2 * halo):
            part = network(x[:, :, top : top + height, left : left + width]).numpy()
            maps = numpy.zeros((len(part), side[0] // 4, side[1] // 4), numpy.float32) if maps is None else maps
            y, z = (halo if top else 0), (halo if left else 0)
            inner = part[:, y // 4 : (height - halo) // 4, z // 4 : (width - halo) // 4]
            maps[:, (top + y) // 4 : (top + height - halo) // 4, (left + z) // 4 : (left + width - halo) // 4] = inner
    return maps

def overlap(a, b):
    shared = numpy.clip(numpy.minimum(a[2:], b[2:]) - numpy.maximum(a[:2], b[:2]), 0, None).prod()
    return shared / max(numpy.subtract(a[2:], a[:2]).prod() + numpy.subtract(b[2:], b[:2]).prod() - shared, 1e-9)

def predict(file):
    """The objects in a picture, the surest first: the label, the score, the box (left, top, right, bottom) and, where it was learnt, the outline."""
    pixels = read(file)
    high, wide = pixels.shape[:2]
    scale = config["scale"] if in_windows else min(height / high, width / wide, 2.0)
    size = max(1, round(wide * scale)), max(1, round(high * scale))
    how = Image.Resampling.BOX if size[0] < wide else Image.Resampling.BILINEAR
    bands = [Image.fromarray(numpy.ascontiguousarray(band)).resize(size, how) for band in numpy.moveaxis(pixels, -1, 0)]
    with torch.inference_mode():
        maps = answered(numpy.stack(bands, axis=-1))
    heat, sides, rays = maps[: len(labels)], maps[len(labels) : len(labels) + 4], maps[len(labels) + 4 :]
    peaks = (F.max_pool2d(torch.from_numpy(heat)[None], 3, 1, 1)[0].numpy() == heat) & (heat >= target["threshold"])
    angles, most, found = 2 * numpy.pi * numpy.arange(len(rays)) / max(1, len(rays)), (wide, high), []
    for label, y, x in sorted(zip(*numpy.nonzero(peaks)), key=lambda place: -heat[place]):
        place, by = numpy.array([(x + 0.5) * 4, (y + 0.5) * 4]), size[0] / wide
        box = numpy.concatenate([place - sides[:2, y, x], place + sides[2:, y, x]]) / by
        box, score = box.clip(0, (*most, *most)), float(heat[label, y, x])
        over = [o["label"] for o in found if overlap(box, o["box"]) >= 0.6]
        inside = box[2] > box[0] and box[3] > box[1]
        if inside and labels[label] not in over and len(found) < target["most"]:  # once; with a second label an object has half the score
            ring = (place + rays[:, y, x, None] * numpy.stack([numpy.cos(angles), numpy.sin(angles)], axis=1)) / by
            found.append({"label": labels[label], "score": score / 2 if over else score, "box": box, "outline": ring.clip(0, most)})
    return sorted((o for o in found if o["score"] >= target["threshold"]), key=lambda o: -o["score"])

for each in predict("a picture of yours.png"):
    print(each["label"], f"{each['score']:.2f}", each["box"].round(1).tolist(), f"an outline of {len(each['outline'])} points")
