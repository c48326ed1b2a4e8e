"""A GeoJSON with polygons in longitude and latitude, as RFC 7946 asks, written line by line."""

import json
from pathlib import Path

import numpy

_DIGITS = 1e-8  # degrees: about a millimetre


class Writer:
    def __init__(self, file: Path):
        self._file = open(file, "w", encoding="utf-8")  # noqa: SIM115 - closed by close
        self._file.write('{"type": "FeatureCollection", "features": [')
        self._first = True

    def add(self, in_degrees: numpy.ndarray, classes: list[str], scores: list[float], areas: list[float | None], pixels: list[int]) -> None:
        """Add polygons, with longitudes and latitudes as x and y."""
        import shapely

        rounded = shapely.transform(in_degrees, lambda places: numpy.round(places / _DIGITS) * _DIGITS)
        shapes = shapely.to_geojson(shapely.orient_polygons(rounded))
        for shape, label, score, area, number in zip(shapes, classes, scores, areas, pixels):
            about = {"class": label, "score": round(score, 4), "area_m2": None if area is None else round(area, 4), "pixels": number}
            self._file.write("\n" if self._first else ",\n")
            self._file.write(f'{{"type": "Feature", "properties": {json.dumps(about, ensure_ascii=False)}, "geometry": {shape}}}')
            self._first = False

    def close(self) -> None:
        self._file.write("\n]}\n")
        self._file.close()
