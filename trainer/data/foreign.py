"""Formats that are not read: what each is, and how a person makes a table of it. The first bytes tell more than the name."""

import re

_SENTENCES = {
    "a MATLAB file: write its table as CSV, with writetable or writematrix in MATLAB": "mat",
    "an R file: write its data frame as CSV, with write.csv in R": "rds rdata rda",
    'an SPSS file: save it as CSV in SPSS, or with pandas.read_spss(file).to_csv("table.csv") in Python': "sav zsav por",
    'a Stata file: write it with export delimited in Stata, or with pandas.read_stata(file).to_csv("table.csv") in Python': "dta",
    'a SAS file: write it with proc export in SAS, or with pandas.read_sas(file).to_csv("table.csv") in Python': "sas7bdat xpt",
    "an Avro file: save it as Parquet or JSON lines": "avro",
    'a FITS file: write its table as CSV, with astropy.table.Table.read(file).write("table.csv") in Python': "fits fit fts",
    "a GRIB file: write the values at your places as CSV, for example with xarray and cfgrib in Python": "grib grb grib2 grb2",
    "a part of a shapefile: the table of its attributes is the .dbf file": "shp shx sbn sbx prj cpg qpj",
    "a map with layers: write the table of its attributes as CSV, for example with ogr2ogr -f CSV table.csv file": "gpkg kml kmz gdb fgb",
    "a database: write the table as CSV": "sqlite sqlite3 db mdb accdb",
    "a point cloud, which is not read: save heights as a GeoTIFF, or measures of each cloud as a table": "laz ply pcd e57",
    "a point cloud or a log of a well (LAS), which are not read: save heights as a GeoTIFF, and the curves of a log as CSV": "las",
    "a spreadsheet of Numbers: export it as Excel or CSV": "numbers",
    "a scan of medicine (DICOM), which is not read: save its slices as PNG images in a folder for each label": "dcm dicom",
    "a scan of medicine (NIfTI), which is not read: save its slices as PNG images in a folder for each label": "nii",
    "an archive of NumPy arrays that holds no graph: save each array as a table in CSV, or as .npy": "npz",
    "a sound recording: write measures of each recording as a table, or save spectrograms as PNG images in a folder for each label": (
        "wav mp3 flac ogg oga m4a aac aif aiff wma opus"
    ),
    "a video: save its frames as PNG or JPEG images in a folder for each label": "mp4 avi mov mkv wmv webm m4v mpg mpeg",
    "a file of reads (FASTQ): make a table with a row for each sequence or sample, and a label column": "fastq fq",
    "a file of variants of a genome (VCF): make a table with a row for each sample or variant, for example with bcftools query": "vcf bcf",
    "a file of alignments to a genome (SAM or BAM): make a table of counts, with a row for each sample": "sam bam cram",
    "a GeoParquet file: give it the ending .parquet, and its columns but the shapes are read": "geoparquet",
    "molecules of chemistry: write a table with the molecules as SMILES and the column to predict, for example with RDKit": "sdf mol mol2",
    "a structure of a molecule: write its measures, or its sequence, as a row of a table with the column to predict": "pdb cif",
    "a track: write its points as CSV, with time, latitude, longitude and the column to predict": "gpx tcx",
    "annotations of brat: write each word with its tag on a line (CoNLL, with a blank line between sentences)": "ann",
    "a series matrix of GEO, with a column for each sample: write a table with a row for each sample, its values in columns, and the column to "
    "predict from its lines !Sample_characteristics_ch1": "soft",
    "counts of a microbiome (BIOM): write a table with a row for each sample and the column to predict, for example with biom convert": "biom",
    "spectra of a mass spectrometer: write a table of peaks, with a row for each sample and the column to predict": "mzml mzxml mgf",
    "a spectrum: write all of them as a table with a row for each, its values in columns, and the column to predict": "jdx dx spc spa jcamp",
    "labels of a recording (Praat, ELAN): write each recording, or each interval, as a row of a table with measures and the column to predict": (
        "textgrid eaf"
    ),
    "a transcript of a conversation (CHAT): save its words as TXT, in a folder for each label": "cha",
    "a treebank (CoNLL-U): write each word with its tag on a line (CoNLL, with a blank line between sentences)": "conllu",
    "a recording of EEG or another physiological signal: write measures of each recording as a row of a table with the column to predict": (
        "edf bdf gdf vhdr vmrk set fif"
    ),
    "cells in a flow cytometer (FCS): write measures of each sample as a row of a table with the column to predict": "fcs",
    "a table of astronomy: write it as CSV, for example with astropy or TOPCAT": "vot votable tbl",
    "a tree of species: write a table with a row for each of them": "nwk newick nex nexus",
    "a text, which is read where folders or metadata label such files; a table is read as CSV": "md html htm xhtml docx eml",
    "a document: save its table as CSV, or its text as TXT": "pdf doc rtf odt ppt pptx",
}
_BY_ENDING = {ending: why for why, endings in _SENTENCES.items() for ending in endings.split()}
_MARKS = (
    (b"MATLAB 5.0 MAT-file", "mat"), (b"MATLAB 7.3 MAT-file", "mat"), (b"RDX2\n", "rds"), (b"RDX3\n", "rds"), (b"RDA2\n", "rds"),
    (b"$FL2", "sav"), (b"$FL3", "sav"), (b"<stata_dta>", "dta"), (b"Obj\x01", "avro"),
    (b"SIMPLE  =", "fits"), (b"GRIB", "grib"), (b"SQLite format 3\x00", "sqlite"), (b"LASF", "las"), (b"%PDF-", "pdf"),
    (b"!Series_title", "soft"), (b"^DATABASE", "soft"),
    (b"fLaC", "flac"), (b"OggS", "ogg"), (b"ID3", "mp3"), (b"##fileformat=VCF", "vcf"), (b"BAM\x01", "bam"),
)  # fmt: skip
_FASTQ = re.compile(rb"@[^\r\n]+\r?\n[ACGTUNacgtun.]+\r?\n\+[^\r\n]*\r?\n[!-~]+\r?\n")
_CONTAINERS = (
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive: use ZIP"),
    (b"\x1f\x8b", "is compressed with gzip: give it an ending such as .csv.gz"),
    (b"BZh", "is compressed with bzip2: give it an ending such as .csv.bz2"),
    (b"\xfd7zXZ\0", "is compressed with xz: give it an ending such as .csv.xz"),
    (b"\x28\xb5\x2f\xfd", "is compressed with Zstandard: give it an ending such as .csv.zst"),
    (b"PK\x03\x04", "is a ZIP archive or a workbook: give it the ending .zip or .xlsx"), (b"PAR1", "is a Parquet file: give it the ending .parquet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a document or workbook of an old Office: give a workbook the ending .xls"),
    (b"\x89PNG\r\n", "is a PNG image: give it the ending .png"), (b"\xff\xd8\xff", "is a JPEG image: give it the ending .jpg"),
)  # fmt: skip


def by_ending(ending: str) -> str:
    """What a file with this ending is, and what to do with it; empty for an ending that is not known."""
    return _BY_ENDING.get(ending, "")


def by_content(head: bytes) -> str:
    """What the bytes at the beginning of a file are, as the end of a sentence that starts with "it"; empty where they may be a text."""
    if kind := next((kind for mark, kind in _MARKS if head.startswith(mark)), ""):
        return f"is {_BY_ENDING[kind]}"
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return f"is {_BY_ENDING['wav']}"
    if _FASTQ.match(head):
        return f"is {_BY_ENDING['fastq']}"
    if head[128:132] == b"DICM":
        return f"is {_BY_ENDING['dcm']}"
    return next((why for mark, why in _CONTAINERS if head.startswith(mark)), "")
