"""Parts of an answer as files in the run folder, which a later start or another worker finds again: arrays by their names in one ZIP archive."""

import io
import uuid
import zipfile
import zlib
from pathlib import Path

import numpy

from trainer.run_folder.lease import Lease

_LEVEL = 1  # of compression


def write(lease: Lease, to: Path, arrays: dict[str, numpy.ndarray], packed: bool = True) -> None:
    """Write a part so that it is there as a whole or not at all; ``packed`` makes it small."""
    made = lease.folder / f"{to.name}.{uuid.uuid4().hex}"
    how = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(made, "w", how, compresslevel=_LEVEL) as archive:
        for name, values in arrays.items():
            with archive.open(name, "w", force_zip64=True) as stream:
                numpy.lib.format.write_array(stream, numpy.ascontiguousarray(values), allow_pickle=False)
    lease.publish(made, to)


def read(file: Path, name: str) -> numpy.ndarray | None:
    """An array of a part; None where the file is not there or damaged, so that it is made again."""
    try:
        with zipfile.ZipFile(file) as archive:
            return numpy.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
