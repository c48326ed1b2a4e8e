"""Small scenes that tests make themselves, and a model with random weights that answers them."""

from pathlib import Path

import numpy
import rasterio
import tifffile
import torch
from rasterio.transform import Affine

from trainer.data.scenes import opening
from trainer.kinds.pixels import codings
from trainer.kinds.pixels.network import UNet
from trainer.kinds.pixels.scenes.units import Asked

POLAR, TURNED = "EPSG:3413", Affine(0.5, 0.2, 1000.0, 0.2, -0.5, 2000.0)


def write(file: Path, values: numpy.ndarray, crs: str | None = POLAR, transform: Affine = TURNED, **more) -> Path:
    """A tiled GeoTIFF of bands x height x width, or of one band."""
    bands = values if values.ndim == 3 else values[None]
    file.parent.mkdir(parents=True, exist_ok=True)
    profile = {"count": len(bands), "height": bands.shape[1], "width": bands.shape[2], "dtype": bands.dtype.name, "crs": crs, "transform": transform}
    tiled = {"tiled": True, "blockxsize": 128, "blockysize": 128, "photometric": "minisblack", "compress": "deflate"}
    with rasterio.open(file, "w", driver="GTiff", **{**profile, **tiled, **more}) as made:
        made.write(bands)
    return file


def damage(file: Path, tile: int, how: str) -> None:
    """Damage the data of a tile in place: ``zeros`` and ``noise`` from its tenth byte on, or ``short``, where the file says that it ends early."""
    with tifffile.TiffFile(file) as tiff:
        page = tiff.pages[0]
        start, length, counts = page.dataoffsets[tile], page.databytecounts[tile], page.tags["TileByteCounts"]
        size = {3: 2, 4: 4, 16: 8}[int(counts.dtype)]
    data = bytearray(file.read_bytes())
    if how == "short":
        at = counts.valueoffset + tile * size
        data[at : at + size] = (length // 3).to_bytes(size, "little")
    else:
        data[start + 10 : start + length] = bytes(length - 10) if how == "zeros" else numpy.random.default_rng(1).bytes(length - 10)
    file.write_bytes(data)


def ground(height: int, width: int, bands: int = 2, seed: int = 0) -> numpy.ndarray:
    """Bands of 16 bits with soft forms, and noise on them."""
    chance = numpy.random.default_rng(seed)
    coarse = chance.normal(0, 1, (bands, height // 16 + 2, width // 16 + 2)).repeat(16, 1).repeat(16, 2)[:, :height, :width]
    return (3000 + 800 * coarse + chance.normal(0, 100, (bands, height, width))).clip(1, 60000).astype(numpy.uint16)


def untrained(bands: int = 2, outputs: int = 3, step: int = 1) -> UNet:
    torch.manual_seed(0)
    model = UNet(bands, outputs, step)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_var.fill_(0.3)
    return model.eval()


def asked(file: Path, mask: Path | None = None) -> Asked:
    return Asked(file.name, opening.scene(file), mask, "0" * 64)


CODING = codings.Classes((0, 1, 5))
