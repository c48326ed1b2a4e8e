"""Vectors of pictures by an installed model of pictures: the mean of its last answers over all places of the picture."""

from collections.abc import Sequence
from pathlib import Path

import numpy

from trainer.data import rasters
from trainer.data.images import undecodable
from trainer.data.pictures import named, squares
from trainer.models import processor, resnet
from trainer.models.catalogue import Base
from trainer.models.leaned import Described, Leaning
from trainer.models.vectors import Reader, Source
from trainer.models.weights import Unusable, Weights, configuration

LEANING = Leaning("image", "reads pictures with", "picture_vectors", (processor.PROCESSOR,))
_PER_SECOND, _SECONDS = 2e10, 0.02  # multiplications of one core in float32; to decode a picture
_SIDES = (16, 1024)  # of the squares that are read
_COLOURS = 3


class PictureReader(Reader):
    """Reads pictures, which its cells name (``trainer.data.pictures.named``). Measured ones with other bands or numbers than colours are not read."""

    def __init__(self, base: Base, about: Described):
        super().__init__(base, about)
        assert base.folder is not None
        config = configuration(base.folder)
        if (sort := str(config.get("model_type"))) != resnet.MODEL_TYPE:
            raise Unusable(f"is of the type {sort[:40]}; {resnet.MODEL_TYPE} is computed here")
        self._encoder = resnet.Encoder(config, Weights(base.folder))
        self.width = self._encoder.width
        try:
            self._size = processor.size(base.folder, config)
            self._mean_of, self._spread = (numpy.asarray(n, numpy.float32) for n in processor.normalisation(base.folder, _COLOURS))
        except (OSError, ValueError, TypeError, AttributeError) as e:
            raise Unusable(f"has a {processor.PROCESSOR} that cannot be read") from e
        if not _SIDES[0] <= self._size <= _SIDES[1]:
            raise Unusable(f"reads pictures of {self._size} x {self._size} pixels, and {_SIDES[0]} to {_SIDES[1]} are read")

    def seconds(self, cells: Sequence[str]) -> float:
        return len(cells) * (self._encoder.multiplications(self._size) / _PER_SECOND + _SECONDS)

    def key(self, cell: str) -> str:
        return named.key(cell)

    def _mean(self, cell: str) -> numpy.ndarray | None:
        found = named.picture(cell)
        if found is None:
            return None
        try:
            if not rasters.form(found).plain:
                return None
            pixels = squares.plain(rasters.rewound(found), self._size, clear=True)
        except Exception as e:  # whatever a decoder raises for a damaged file
            if isinstance(found, Path):
                return None
            raise undecodable("", e) from e
        return self._encoder.vector((pixels.astype(numpy.float32) / 255 - self._mean_of) / self._spread)


SOURCE = Source(LEANING, "pictures", "picture", "look", "their colours and edges", PictureReader)
