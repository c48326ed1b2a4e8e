"""The kinds of data. A new kind is one folder here and one line in ``KINDS``; see docs/development.md."""

from trainer.kinds.graph.kind import Graph
from trainer.kinds.image.kind import Images
from trainer.kinds.language.kind import Language
from trainer.kinds.objects.kind import ObjectsInPictures
from trainer.kinds.pixels.kind import Pixels
from trainer.kinds.series.kind import SeriesInTime
from trainer.kinds.table.kind import Tables
from trainer.kinds.text.kind import Texts
from trainer.kinds.tokens.kind import Tokens

KINDS = (Texts(), Images(), Tables(), Language(), Tokens(), Graph(), ObjectsInPictures(), Pixels(), SeriesInTime())
