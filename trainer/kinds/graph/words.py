"""Bags of words of nodes as sparse matrices, and their projection to few numbers."""

import json
import re
import zlib

import numpy

BUCKETS = 1 << 14  # of texts: words are hashed, so that no vocabulary is stored
MIN_FLAGS = 64  # columns of zeros and ones, to be read as words
MAX_SHARE = 0.2  # of other values than zero in such columns
WIDE = 512  # words; more are projected
WIDTH = 256  # numbers that they are projected to
MAX_BYTES = 512 << 20  # of features that are not projected
_ROWS = 4096
_WORD = re.compile(r"\w+")
_LONGEST = 20_000  # characters of a text


def flags(dense: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The columns that are words, and the others: many columns of numbers that are mostly zero and never negative."""
    every = numpy.arange(dense.shape[1])
    if dense.shape[1] < MIN_FLAGS:
        return every[:0], every
    step = max(1, len(dense) // _ROWS)
    seen = numpy.asarray(dense[::step])
    gaps = numpy.isnan(seen)
    sparse = (((seen != 0) & ~gaps).mean(axis=0) <= MAX_SHARE) & ~(seen < 0).any(axis=0)
    binary = ((seen == 0) | (seen == 1)).all(axis=0)
    found = sparse | (binary & (sparse.mean() > 0.5))
    return (every[found], every[~found]) if found.sum() >= MIN_FLAGS else (every[:0], every)


def of_flags(dense: numpy.ndarray, columns: numpy.ndarray):
    """Columns of numbers as a sparse matrix (csr, float32). A gap is no word."""
    from scipy import sparse

    parts = []
    for begin in range(0, len(dense), _ROWS):
        part = numpy.nan_to_num(numpy.asarray(dense[begin : begin + _ROWS])[:, columns], nan=0.0)
        parts.append(sparse.csr_matrix(numpy.maximum(part, 0)))
    return sparse.vstack(parts, format="csr")


def of_cells(cells: list[list[str]], rows: int):
    """Columns of text that hold numbers, one for each word, as a sparse matrix."""
    from scipy import sparse

    from trainer.data.columns import values

    dense = [[max(0.0, values.number(c) or 0.0) for c in column] for column in cells]
    return sparse.csr_matrix(numpy.array(dense, numpy.float32).reshape(len(cells), rows).T)


def of_texts(texts: list[str], buckets: int = BUCKETS):
    """Texts as the words in them, by a hash that is the same everywhere."""
    places: dict[str, int] = {}
    rows, columns = [], []
    for row, text in enumerate(texts):
        for word in set(_WORD.findall(text[:_LONGEST].lower())):
            if (place := places.get(word)) is None:
                place = places[word] = zlib.crc32(word.encode("utf-8", "surrogatepass")) % buckets
            rows.append(row)
            columns.append(place)
    return _matrix(rows, columns, (len(texts), buckets))


def of_lists(cells: list[str], vocabulary: list[str]):
    """Lists of words in cells. Words that are not in the vocabulary count for nothing."""
    places = {w: i for i, w in enumerate(vocabulary)}
    found = [(row, places[w]) for row, cell in enumerate(cells) for w in set(listed(cell)) if w in places]
    return _matrix([r for r, _ in found], [c for _, c in found], (len(cells), len(vocabulary)))


def listed(cell: str) -> list[str]:
    """The words of a cell: a list as JSON or Python writes it, else what blanks, commas, semicolons or bars separate."""
    cell = cell.strip()
    if cell.startswith("["):
        try:
            value = json.loads(cell.replace("'", '"'))
            return [str(w) for w in value if isinstance(w, (str, int, float))]
        except (ValueError, RecursionError):
            cell = cell.strip("[]")
    return [w for w in re.split(r"[\s,;|]+", cell) if w]


def _matrix(rows: list[int], columns: list[int], shape: tuple[int, int]):
    from scipy import sparse

    matrix = sparse.coo_matrix((numpy.ones(len(rows), numpy.float32), (rows, columns)), shape).tocsr()
    matrix.data[:] = 1
    return matrix


def weights(matrix) -> numpy.ndarray:
    """The weight of each word (float32): rare words tell more than frequent ones."""
    nodes = matrix.getnnz(axis=0)
    return (numpy.log((1 + matrix.shape[0]) / (1 + nodes)) + 1).astype(numpy.float32)


def basis(matrix, weight: numpy.ndarray, links: bool, seed: int) -> numpy.ndarray | None:
    """The directions (float32, words x numbers) that a wide matrix is projected on; None where it stays as it is."""
    rows, words = matrix.shape
    if words <= WIDE or (not links and 4 * rows * words <= MAX_BYTES) or min(rows, words) <= WIDTH:
        return None
    from sklearn.utils.extmath import randomized_svd  # takes a second to import

    _, _, directions = randomized_svd(_unit(matrix, weight), WIDTH, n_iter=4, random_state=seed)
    return numpy.ascontiguousarray(directions.T, numpy.float32)


def scale(matrix, weight: numpy.ndarray, directions: numpy.ndarray | None) -> float:
    """The factor that makes the mean square of all numbers one, as for standardised columns."""
    values = projected(matrix[: 20 * _ROWS], weight, directions, 1.0)
    size = float(numpy.sqrt(numpy.mean(values.astype(numpy.float64) ** 2))) if values.size else 0.0
    return 1.0 / size if size > 0 else 1.0


def projected(matrix, weight: numpy.ndarray | None, directions: numpy.ndarray | None, factor: float) -> numpy.ndarray:
    """The features (float32) of a matrix of words: weighted, each row of length one, projected, scaled."""
    unit = _unit(matrix, weight)
    values = unit @ directions if directions is not None else unit.toarray()
    return numpy.asarray(values * numpy.float32(factor), numpy.float32)


def _unit(matrix, weight: numpy.ndarray | None):
    from scipy import sparse

    weighted = matrix @ sparse.diags(weight) if weight is not None else matrix
    lengths = numpy.sqrt(numpy.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    return (sparse.diags(1 / numpy.maximum(lengths, 1e-12)) @ weighted).tocsr().astype(numpy.float32)
