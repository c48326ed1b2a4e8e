"""Rows about files whose columns lie behind each other, and about the tables of other programs: NetCDF, HDF5, NumPy, Feather, ARFF, ODS, Excel 97."""

import io
from collections.abc import Callable

import numpy
import pyarrow
import pyarrow.feather
import pyarrow.orc

from trainer.tests.array_files import along, hdf5, netcdf, npy, ods, xls
from trainer.tests.zoo.containers import CELLS, N
from trainer.tests.zoo.row import Reads, Refused, Row
from trainer.tests.zoo.tables import PLAIN, TASK, body, file

COLUMNS, ORDER, CHILDREN, WEKA, OTHER_BOOKS = (
    "variables along one dimension",
    "columns in the order of names",
    "tables of Arrow",
    "ARFF",
    "other workbooks",
)
DEPTH, FLOW = (numpy.array([row[i] for row in CELLS[1:]], "f4") for i in (0, 1))
CLASS = numpy.array([row[2] for row in CELLS[1:]], "S1")
HOURS = numpy.arange(400) * 6.0
LEVEL = 10 + 8 * numpy.sin(numpy.arange(400) / 25)
CHANCE = numpy.random.default_rng(3).normal(size=400)
DATED = {"units": "hours since 2019-01-01 00:00:0.0"}


def _row(name, layout, who, source, expects, ending, content, outcome, rule="", spares="", **settings) -> Row:
    return Row(name, layout, who, source, expects, file(f"data.{ending}", content), outcome, rule, spares, settings)


def _refused(name, layout, who, source, ending, content, says, code="no_table") -> Row:
    return _row(name, layout, who, source, "refused with the reason", ending, content, Refused(code, (says,)), spares=COLUMNS)


def _reads(*columns: str, says: dict[str, str] | None = None, label: str = "class") -> Reads:
    return Reads(TASK, rows=N, columns=columns or ("depth", "flow"), label=label, says=says or {}, encoder={})


def _datasets(**columns: numpy.ndarray) -> Callable:
    def fill(target):
        for name, values in columns.items():
            target[name] = values.astype(object) if values.dtype.kind == "U" else values

    return fill


def _measures(target) -> None:
    """Depths in whole tenths, some of them the fill value, and classes as characters."""
    tenths = numpy.where(numpy.arange(N) % 9 == 0, -999, numpy.round(DEPTH * 10)).astype("h")
    packed = {"_FillValue": numpy.int16(-999), "scale_factor": 0.1}
    along(target, "sample", {"depth": tenths, "flow": FLOW, "class": CLASS}, {"depth": packed})


def _moored(target, **time) -> None:
    along(target, "time", {"time": HOURS, "x": CHANCE, "level": LEVEL}, {"time": DATED | time})


def _cube(target) -> None:
    for name, length in (("time", 12), ("lat", 4), ("lon", 5)):
        along(target, name, {name: numpy.arange(length) * 1.0})
    target.createVariable("tas", "f", ("time", "lat", "lon"))[:] = 0


def _profiles(target) -> None:
    along(target, "obs", {"depth": DEPTH, "flow": FLOW})
    along(target, "profile", {"station": numpy.arange(4.0)})


def _scales(target) -> None:
    """As netCDF-4 writes it: the variables have the dimension time."""
    _datasets(time=HOURS, x=CHANCE, level=LEVEL)(target)
    target["time"].make_scale("time")
    target["time"].attrs["units"] = DATED["units"]
    for name in ("x", "level"):
        target[name].dims[0].attach_scale(target["time"])


def _outside(target) -> None:
    target.create_dataset("depth", (N,), dtype="u1", external=[("/etc/hostname", 0, N)])


def _weights(target) -> None:
    target.attrs["keras_version"] = "3"
    _datasets(kernel=DEPTH)(target)


def _packed(write: Callable, table: pyarrow.Table) -> bytes:
    out = io.BytesIO()
    write(table, out)
    return out.getvalue()


_RECORDS = numpy.rec.fromarrays([DEPTH, FLOW, CLASS], names="depth,flow,class")
_TABLE = pyarrow.table({"depth": DEPTH, "flow": FLOW, "class": CLASS.astype(str).tolist()})
_IMAGES = _TABLE.append_column("scan", pyarrow.array([b"raw"] * N))
_HEAD = "% lakes\n@relation lakes\n@attribute 'depth' numeric\n@attribute flow real\n@attribute class {x, y}\n\n@data\n"
ROWS = (
    _row("netcdf", "depth, flow and class along the dimension sample, packed", "oceanography", "users.md 1.2", "columns", "nc", netcdf(_measures),
         _reads(says={"table": "fill value"}), COLUMNS),
    _row("netcdf-series", "a level along the time, in hours since 2019", "lakes", "PDG", "a series", "nc", netcdf(_moored),
         Reads("tabular-regression", rows=400, label="level", columns=("x",), says={"split": "split by time", "table": "as dates"}), COLUMNS),
    _row("netcdf-4-series", "the same as netCDF-4", "lakes", "PDG", "a series", "nc", hdf5(_scales),
         Reads("tabular-regression", rows=400, says={"split": "split by time"}), COLUMNS, label_column="level"),
    _row("hdf5", "three datasets of one length, and a number", "labs", "users.md 1.2", "columns", "h5",
         hdf5(lambda t: _datasets(depth=DEPTH, flow=FLOW, **{"class": CLASS})(t) or t.create_dataset("version", data=3)), _reads(), COLUMNS),
    _row("hdf5-records", "one dataset of records", "labs", "made", "columns", "hdf5", hdf5(_datasets(runs=_RECORDS)), _reads(), COLUMNS),
    _row("hdf5-called-dat", "a file .dat", "instruments", "users.md 1.2", "columns", "dat",
         hdf5(_datasets(depth=DEPTH, flow=FLOW, **{"class": CLASS})), _reads(), COLUMNS),
    _refused("netcdf-cube", "temperatures by time, latitude and longitude", "climate", "CMIP", "nc", netcdf(_cube), "tas: time × lat × lon"),
    _refused("netcdf-profiles", "measures along obs, stations along profile", "oceanography", "CF conventions",
             "nc", netcdf(_profiles), "station: 4 values"),
    _refused("hdf5-pictures", "pictures as one dataset of 60 × 8 × 8", "cameras", "F11", "h5",
             hdf5(_datasets(x=numpy.zeros((N, 8, 8)))), "60 × 8 × 8"),
    _refused("hdf5-outside", "values that lie in another file", "nobody good", "made", "h5", hdf5(_outside), "in another file"),
    _refused("hdf5-weights", "the weights of a model", "Keras users", "users.md 1.2", "h5", hdf5(_weights), "weights of a model"),
    _refused("hdf5-damaged", "the first bytes of HDF5", "uploads that broke off", "made", "h5", b"\x89HDF\r\n\x1a\n" + bytes(99), "damaged"),
    _row("netcdf-model-calendar", "days of a calendar of 360 days", "climate models", "CF conventions", "a series of numbers, no dates", "nc",
         netcdf(lambda t: _moored(t, calendar="360_day")), Reads("tabular-regression", rows=400, says={"split": "by time"}, silent=("table",)),
         spares=COLUMNS),
    _row("hdf5-in-the-order-of-names", "b_target, x and y, all numbers: the author's order is lost", "labs", "made", "a question", "h5",
         hdf5(_datasets(b_target=LEVEL, x=CHANCE, y_position=HOURS * CHANCE)), Refused("no_label", ("b_target has numbers",)), ORDER),
    _row("hdf5-in-its-order", "x, y and level in the order in which they were written", "labs", "made", "the last one is the label", "h5",
         hdf5(_datasets(x=CHANCE, y_position=HOURS * CHANCE, level=LEVEL), track_order=True), Reads("tabular-regression", rows=400, label="level"),
         spares=ORDER),
    _row("numpy-records", "records with names", "Python users", "made", "columns", "npy", npy(_RECORDS), _reads(), COLUMNS),
    _row("numpy-numbers", "60 × 3 numbers without names", "Python users", "made", "columns with numbers", "npy",
         npy(numpy.stack([DEPTH, FLOW, numpy.arange(N) % 2], axis=1)), _reads("value 1", "value 2", label="value 3"), COLUMNS),
    _refused("numpy-objects", "objects of Python", "Python users", "made", "npy",
             npy(numpy.array([{"a": 1}], object), allow_pickle=True), "never loaded"),
    _row("feather", "a Feather file", "R and Python users", "users.md 1.2", "a table", "feather", _packed(pyarrow.feather.write_feather, _TABLE),
         _reads(), CHILDREN),
    _row("orc", "an ORC file", "Hive users", "made", "a table", "orc", _packed(pyarrow.orc.write_table, _TABLE), _reads(), CHILDREN),
    _row("feather-with-bytes", "a Feather file with a column of bytes", "labs", "made", "all but the bytes", "feather",
         _packed(pyarrow.feather.write_feather, _IMAGES), _reads(says={"table": "not read: scan"}), CHILDREN),
    _row("csv-called-arrow", "a CSV called .arrow", "made", "made", "refused", "arrow", PLAIN, Refused("no_table", ("damaged",)), spares=CHILDREN),
    _row("arff", "lines @attribute and @data", "Weka users", "UCI", "a table", "arff", _HEAD + body(), _reads(), WEKA),
    _row("keel", "the same as .dat, with @inputs and @outputs", "KEEL users", "keel.es", "a table with its names", "dat",
         _HEAD.replace("class {", "class{").replace("@data", "@inputs depth, flow\n@outputs class\n@data") + body(), _reads(), WEKA),
    _row("an-at-in-a-log", "a CSV with @relation in a cell", "loggers", "made", "a CSV", "dat",
         _HEAD.split("\n")[0] + "\n@relation,flow,class\n" + body(), _reads("@relation", "flow"),
         spares=WEKA),
    _row("arff-sparse", "rows like {0 1.5, 2 x}", "Weka users", "made", "refused", "arff", _HEAD + "{0 1.5, 2 x}\n" * N,
         Refused("no_table", ("sparse",)), spares=WEKA),
    _row("libreoffice", "an .ods", "LibreOffice users", "users.md 1.2", "read like a CSV", "ods", ods(CELLS), _reads(), OTHER_BOOKS),
    _row("excel-97", "an .xls", "Excel users", "users.md 1.2", "read like a CSV", "xls", xls(CELLS), _reads(), OTHER_BOOKS),
    _row("xls-broken-off", "half an .xls", "uploads that broke off", "made", "refused", "xls", xls(CELLS)[:900], Refused("no_table", ("workbook",)),
         spares=OTHER_BOOKS),
)  # fmt: skip
