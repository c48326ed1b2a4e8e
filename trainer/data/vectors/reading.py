"""The polygons in the files of a dataset, by format."""

from collections.abc import Iterable

from trainer.core.input import Input
from trainer.data import names
from trainer.data.vectors import geojson, geopackages, shapefiles
from trainer.data.vectors.layer import Layer

ENDINGS = ("geojson", "json", "gpkg", "shp")
FORMATS = ("GeoJSON", "a GeoPackage", "a shapefile")  # as trainer/data/annotations calls them


def read(source: Input, others: Iterable[Input]) -> list[Layer]:
    """The layers in a file; ``others`` are all files of the dataset, among them those that belong to a shapefile. Raises OSError or ValueError."""
    ending = names.extension(source.name)
    if ending == "gpkg":
        return geopackages.read(source.file, source.name)
    if ending == "shp":
        stem = source.name.rpartition(".")[0].lower()
        beside = {names.extension(o.name): o.file for o in others if o.name.rpartition(".")[0].lower() == stem}
        return shapefiles.read(source.file, source.name, beside)
    return geojson.read(source.file, source.name)
