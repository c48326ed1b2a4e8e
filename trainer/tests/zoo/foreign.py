"""Rows about files that no reader reads, by name and by content: the error says what they are and what to do next."""

import gzip
import io
import json

import numpy
import pyarrow
from pyarrow import parquet

from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row
from trainer.tests.zoo.tables import file

RULE = "files that are named"
N = 60
_NIFTI = b"\x5c\x01\x00\x00" + bytes(340) + b"n+1\0" + bytes(100)
_DICOM = bytes(128) + b"DICM" + bytes(60)
_SOUND = b"RIFF\x24\0\0\0WAVEfmt " + bytes(60)
_READS = "".join(f"@SRR{i}\nACGTACGT\n+\nIIIIIIII\n" for i in range(N))
_VARIANTS = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\n" + "".join(f"{i % 2}\t{i * 10}\t.\tA\tG\n" for i in range(N))
_LOG = "".join(f"@user{i}\nshort text {i}\n+\nreply\n" for i in range(N))


def _arrays() -> bytes:
    data = io.BytesIO()
    numpy.savez(data, x=numpy.zeros((3, 4)), y=numpy.zeros(3))
    return data.getvalue()


def _shapes() -> bytes:
    """A GeoParquet file: a column of classes, one of areas and one of shapes."""
    columns = {"crop": [("oat", "rye")[i % 2] for i in range(N)], "area": [i % 7 * 1.5 for i in range(N)], "geometry": [bytes(21)] * N}
    described = {"version": "1.0.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}
    data = io.BytesIO()
    parquet.write_table(pyarrow.table(columns).replace_schema_metadata({"geo": json.dumps(described)}), data)
    return data.getvalue()


def _named(name: str, who: str, ending: str, content: bytes | str, *says: str) -> Row:
    layout = f"a file .{ending}" if ending else "a file without an ending"
    return Row(
        name, layout, who, "issue 42", "what it is and what to do", file(f"data.{ending}".rstrip("."), content), Refused("no_table", says), RULE
    )


ROWS = (
    _named("nifti", "neurology", "nii", _NIFTI, "NIfTI", "PNG"),
    _named("nifti-compressed", "neurology", "nii.gz", gzip.compress(_NIFTI), "NIfTI", "PNG"),
    _named("dicom", "clinics", "dcm", _DICOM, "DICOM", "PNG"),
    _named("dicom-without-ending", "clinics", "", _DICOM, "DICOM", "PNG"),
    _named("las", "airborne lidar", "las", b"LASF" + bytes(99), "a point cloud", "GeoTIFF"),
    _named("laz", "airborne lidar", "laz", b"LASF" + bytes(99), "a point cloud", "GeoTIFF"),
    _named("pdf", "everybody", "pdf", b"%PDF-1.4" + bytes(99), "a document", "CSV"),
    _named("sound", "bird watchers", "wav", _SOUND, "a sound recording", "spectrograms"),
    _named("sound-without-ending", "bird watchers", "", _SOUND, "a sound recording", "spectrograms"),
    _named("video", "camera traps", "mp4", b"\0\0\0\x18ftypmp42" + bytes(60), "a video", "frames"),
    _named("fastq", "genomics", "fastq", _READS, "FASTQ", "a table"),
    _named("fastq-compressed", "genomics", "fastq.gz", gzip.compress(_READS.encode()), "FASTQ", "a table"),
    _named("fastq-called-txt", "genomics", "txt", _READS, "FASTQ", "a table"),
    Row("lines-that-begin-with-a-sign", "posts in lines, of which some begin with @ and +", "chats", "made", "not taken for sequences",
        file("data.txt", _LOG), Refused("no_table", ("no delimiter",)), spares=RULE),
    _named("vcf", "genomics", "vcf", _VARIANTS, "VCF", "bcftools"),
    _named("vcf-compressed", "genomics", "vcf.gz", gzip.compress(_VARIANTS.encode()), "VCF", "bcftools"),
    _named("tar", "downloads", "tar", bytes(257) + b"ustar" + bytes(99), "archive", "ZIP"),
    _named("tar-compressed", "downloads", "tar.gz", gzip.compress(b"x"), "archive", "ZIP"),
    _named("7z", "downloads", "7z", b"7z\xbc\xaf\x27\x1c" + bytes(30), "archive", "ZIP"),
    _named("npz", "Python users", "npz", _arrays(), "NumPy arrays", "CSV"),
    _named("geoparquet-by-its-name", "GIS users", "geoparquet", _shapes(), "GeoParquet", ".parquet"),
    Row("geoparquet", "a .parquet with shapes", "GIS users", "geoparquet.org", "its columns are read, and the shapes are not",
        file("data.parquet", _shapes()), Reads("tabular-classification", rows=N, columns=("area",), says={"table": "geometry"}),
        settings={"label_column": "crop"}, spares=RULE),
    Row("measures-of-sounds", "a CSV called sounds.wav.csv", "bird watchers", "made", "a table",
        file("sounds.wav.csv", "length,label\n" + "".join(f"{i % 9},{'ab'[i % 2]}\n" for i in range(N))), NotRefused("no_table"), spares=RULE),
)  # fmt: skip
