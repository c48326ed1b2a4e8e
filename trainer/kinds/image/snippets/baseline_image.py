# needs: pillow, safetensors, numpy
# holds: `baseline/weights.safetensors` holds a weight for every feature and class, and `baseline/config.json` describes the features
import json
import numpy
from PIL import Image, ImageOps
from safetensors.numpy import load_file

config, model = json.load(open("baseline/config.json")), load_file("baseline/weights.safetensors")
encoder = config["encoder"]
side = encoder["image_size"]
cell = side // 8

def all_bits(file):
    image, lower = Image.open(file), Image.open(file)
    stored, pixels = image.tile[0][3], numpy.asarray(image)
    if pixels.dtype != numpy.uint8 or encoder["dtype"] != "uint16":
        return pixels
    lower.tile = [(*lower.tile[0][:3], stored.replace("16B", "16L"))]  # of a PNG of 16 bits in colours, Pillow gives only the upper 8 bits
    return pixels.astype(numpy.uint16) * 256 + numpy.asarray(lower)

def read(file):
    if "bands" not in encoder:
        image = ImageOps.exif_transpose(Image.open(file))
        if "clear" in encoder:  # grey where a pixel is clear
            image = Image.alpha_composite(Image.new("RGBA", image.size, (encoder["clear"],) * 3 + (255,)), image.convert("RGBA"))
        return numpy.asarray(image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR), numpy.float32)
    import tifffile
    pixels = tifffile.imread(file, key=0) if str(file).lower().endswith((".tif", ".tiff")) else all_bits(file)
    pixels = numpy.moveaxis(pixels, 0, -1) if pixels.shape[0] == encoder["bands"] else pixels.reshape(*pixels.shape[:2], -1)
    scaled = (pixels[..., : encoder["bands"]].astype(float) - encoder["low"]) / numpy.subtract(encoder["high"], encoder["low"])
    scaled = numpy.where(numpy.isfinite(scaled), scaled.clip(0, 1) * 255, 127.5)
    bands = [Image.fromarray(band.astype(numpy.float32)).resize((side, side), Image.Resampling.BILINEAR) for band in numpy.moveaxis(scaled, -1, 0)]
    return numpy.rint(numpy.stack(bands, axis=-1)).astype(numpy.float32)

def predict(file):
    grey = read(file)[: 8 * cell, : 8 * cell].mean(axis=2) / 255
    x = grey.reshape(8, cell, 8, cell).mean(axis=(1, 3)).ravel()
    scores = x @ model["weights"] + model["bias"]
    return config["labels"][scores.argmax()] if config["labels"] else float(scores[0])

print(predict("a picture of yours.png"))
