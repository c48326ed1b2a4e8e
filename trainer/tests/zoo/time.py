"""Rows about time and place: tables that are a series, and tables that only look like one."""

import datetime
import math
import random

from trainer.tests.zoo.names import EARLIER, key, packed, picture
from trainer.tests.zoo.row import Reads, Refused, Row, write

START = datetime.datetime(2019, 1, 1)
SERIES = "a series in time"
PLACES = "alike on the map"
BY_TIME, AT_RANDOM = {"split": "split by time"}, {"split": "by a content hash"}
FLATTERS = "time_neighbours"


def csv(header: str, rows) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def _file(header: str, rows, name: str = "t.csv", more=None):
    def make(folder):
        write(folder, name, csv(header, rows()))
        for other, content in (more or {}).items():
            write(folder, other, content)

    return make


def moment(i: int, minutes: int = 30) -> datetime.datetime:
    return START + datetime.timedelta(minutes=minutes * i)


def smooth(rows: int = 400, form: str = "%Y-%m-%d %H:%M", shuffled: bool = False, minutes: int = 30, classes: bool = False):
    """Rows of a sensor: a time, a reading of chance, and a target that goes up and down slowly."""

    def made():
        chance = random.Random(1)
        found = []
        for i in range(rows):
            level = 10 + 8 * math.sin(i / (6 if classes else 25)) + chance.gauss(0, 0.3)
            target = ("low", "high")[level > 10] if classes else f"{level:.2f}"
            found.append([moment(i, minutes).strftime(form), f"{chance.gauss(0, 1):.3f}", target])
        if shuffled:
            chance.shuffle(found)
        return found

    return made


def births(sort: bool = False, target=None):
    """People with a date of birth, in no order unless they are sorted by it."""

    def made():
        chance = random.Random(2)
        found = []
        for _ in range(300):
            born = datetime.date(1940, 1, 1) + datetime.timedelta(days=chance.randrange(23_000))
            value = target(born, chance) if target else f"{chance.gauss(50, 9):.2f}"
            found.append([born.isoformat(), f"{chance.gauss(170, 9):.1f}", value])
        return sorted(found) if sort else found

    return made


def _age(born: datetime.date, chance: random.Random) -> str:
    return f"{2020 - born.year + chance.random():.2f}"


def panel(stations: int = 8, years: int = 40, by_year: bool = False):
    """A yearly value of several stations, each with its own level and a slow trend."""

    def made():
        chance = random.Random(3)
        found = [
            [f"s{s}", 1970 + y, f"{chance.gauss(0, 1):.2f}", f"{50 * (s * 7 % 5) + y + chance.gauss(0, 1):.2f}"]
            for s in range(stations)
            for y in range(years)
        ]
        return sorted(found, key=lambda r: r[1]) if by_year else found

    return made


def _sorted_label():
    chance = random.Random(4)
    return [[i + 1, f"{chance.gauss(i // 100, 1):.4f}", f"{chance.gauss(0, 1):.4f}", "abc"[i // 100]] for i in range(300)]


def _sorted_numbers():
    chance = random.Random(5)
    return sorted(([i, f"{chance.gauss(0, 1):.4f}", f"{chance.random() * 90:.2f}"] for i in range(300)), key=lambda r: float(r[2]))


def _blocks():
    chance = random.Random(6)
    return [[moment(i, 1440).date(), f"{chance.gauss(i // 100, 1):.4f}", "abc"[i // 100]] for i in range(300)]


def _chance_in_time():
    chance = random.Random(7)
    return [[moment(i, 1440).date(), f"{chance.gauss(0, 1):.4f}", f"{chance.gauss(0, 1):.4f}"] for i in range(300)]


def _cars():
    chance = random.Random(8)
    found = []
    for _ in range(400):
        year = chance.randrange(1990, 2020)
        found.append(
            [year, chance.choice(("fiat", "ford", "seat")), f"{chance.gauss(5, 1):.2f}", f"{1000 * (year - 1985) + chance.gauss(0, 900):.0f}"]
        )
    return found


def _sampled():
    """Samples at days without any order or step, in a shuffled table."""
    chance = random.Random(9)
    days = sorted(chance.sample(range(9000), 250))
    found = [[moment(d, 1440).date(), f"{chance.gauss(0, 1):.3f}", f"{10 + 8 * math.sin(d / 500) + chance.gauss(0, 0.4):.2f}"] for d in days]
    chance.shuffle(found)
    return found


def plots(smooth_on_map: bool = True):
    def made():
        chance = random.Random(10)
        found = []
        for _ in range(400):
            north, east = chance.uniform(40, 42), chance.uniform(-90, -88)
            value = 3 * math.sin(3 * north) + 2 * math.cos(3 * east) if smooth_on_map else chance.gauss(0, 2)
            found.append([f"{north:.4f}", f"{east:.4f}", f"{chance.gauss(0, 1):.3f}", f"{value + chance.gauss(0, 0.2):.3f}"])
        return found

    return made


def _groups():
    chance = random.Random(11)
    return [[f"plant{p}", f"{chance.gauss(p % 2, 0.4):.4f}", f"{chance.gauss(0, 1):.4f}", "ab"[p % 2]] for p in range(40) for _ in range(6)]


def _pictures_in_time(folder):
    lines = ["file,taken,kind"] + [f"{i:03}.png,{moment(i, 60):%Y-%m-%d %H:%M},{('dry', 'wet')[i // 5 % 2]}" for i in range(120)]
    for i in range(120):
        write(folder, f"{i:03}.png", picture(i * 2 + i // 5 % 2))
    write(folder, "key.csv", "\n".join(lines) + "\n")


def _read(rows: int, task: str = "tabular-regression", says=None, silent=(), **facts) -> Reads:
    return Reads(task, rows=rows, says=says or {}, silent=silent, **facts)


ROWS = (
    Row("half-hours", "one row for each half hour, dates", "flux towers, met stations", "F5", "the latest rows are the test",
        _file("time,x,y", smooth()), _read(400, says=BY_TIME, silent=(FLATTERS,), splits=(320, 40, 40)), rule=SERIES),
    Row("row-clock", "201901010030 as a number", "AmeriFlux", "F5", "the same, and the clock is no feature",
        _file("TIMESTAMP_START,x,y", smooth(form="%Y%m%d%H%M")), _read(400, says=BY_TIME, columns=("x",)), rule=SERIES),
    Row("shuffled-half-hours", "the same in no order", "exports of databases", "F5", "the step of time gives it away",
        _file("time,x,y", smooth(shuffled=True)), _read(400, says=BY_TIME), rule=SERIES),
    Row("days-backwards", "the newest day first", "web portals", "made", "the latest rows are the test",
        _file("date,x,y", lambda: smooth(form="%d.%m.%Y", minutes=1440)()[::-1]), _read(400, says=BY_TIME), rule=SERIES),
    Row("months", "2019-01, 2019-02, …", "statistics offices", "statsmodels co2", "the latest rows are the test",
        _file("month,x,y", lambda: [[f"{1980 + i // 12}-{i % 12 + 1:02}", x, y] for i, (_, x, y) in enumerate(smooth(240)())]),
        _read(240, says=BY_TIME), rule=SERIES),
    Row("panel-of-stations", "several stations, one row for each year", "climate", "gapminder", "the latest years of all stations are the test",
        _file("station,year,x,y", panel()), _read(320, says=BY_TIME), rule=SERIES),
    Row("panel-by-year", "the same, sorted by year", "climate", "made", "the latest years of all stations are the test",
        _file("station,year,x,y", panel(by_year=True)), _read(320, says=BY_TIME), rule=SERIES),
    Row("classes-in-time", "a class that lasts for hours", "activity of animals", "made", "the latest rows are the test",
        _file("time,x,label", smooth(classes=True)), _read(400, "tabular-classification", says=BY_TIME), rule=SERIES),
    Row("date-of-birth", "people with a date of birth", "medicine", "made", "split at random, no word of time",
        _file("date of birth,height,score", births()), _read(300, says=AT_RANDOM, silent=(FLATTERS,)), spares=SERIES,
        settings={"label_column": "score"}),
    Row("sorted-by-birth", "the same, sorted by it, and the age as target", "medicine", "made", "split at random, no word of time",
        _file("dob,height,age", births(True, _age)), _read(300, says=AT_RANDOM, silent=(FLATTERS,)), spares=SERIES, settings={"label_column": "age"}),
    Row("rows-sorted-by-label", "an id that counts, rows sorted by class", "exports", "scikit-learn iris", "split at random",
        _file("id,x,z,label", _sorted_label), _read(300, "tabular-classification", says=AT_RANDOM, silent=(FLATTERS,)), spares=SERIES),
    Row("sorted-target", "rows sorted by the number to predict", "rankings", "made", "split at random",
        _file("id,x,y", _sorted_numbers), _read(300, says=AT_RANDOM, silent=(FLATTERS,)), spares=SERIES),
    Row("chance-in-time", "days in order, values that do not depend on them", "lotteries", "made", "split at random",
        _file("date,x,y", _chance_in_time), _read(300, says=AT_RANDOM, silent=(FLATTERS,)), spares=SERIES),
    Row("years-of-cars", "a year of construction, and a price that rises with it", "used cars", "made", "split at random",
        _file("year,make,litres,price", _cars), _read(400, says=AT_RANDOM, silent=(FLATTERS,)), spares=SERIES, settings={"label_column": "price"}),
    Row("few-rows-in-time", "30 days", "pupils", "made", "split at random",
        _file("date,x,y", lambda: smooth(30, "%Y-%m-%d", minutes=1440)()), _read(30, says=AT_RANDOM, silent=(FLATTERS,)), spares=SERIES),
    Row("class-after-class", "each class was recorded in days of its own", "experiments", "F5", "at random, with the reason in a warning",
        _file("date,x,label", _blocks), _read(300, "tabular-classification", says=AT_RANDOM | {FLATTERS: "the latest rows have one label"})),
    Row("samples-without-order", "samples at days without a step, in no order", "water quality", "made", "at random, with a warning",
        _file("date,x,y", _sampled), _read(250, says=AT_RANDOM | {FLATTERS: "set data.split to time"})),
    Row("random-as-asked", "a series that is split at random as asked", "anyone", "F5", "a warning that the metrics are too good",
        _file("time,x,y", smooth()), _read(400, says=AT_RANDOM | {FLATTERS: "much more alike"}), settings={"split": "random"}),
    Row("no-time-as-asked", "time_column: none", "anyone", "made", "no word of time",
        _file("time,x,y", smooth()), _read(400, says=AT_RANDOM, silent=(FLATTERS,)), settings={"time_column": "none"}),
    Row("time-as-asked", "a column of times that the user names", "anyone", "made", "split by it",
        _file("when it was,x,y", _chance_in_time), _read(300, says={"split": "as requested"}), settings={"time_column": "when it was"}),
    Row("time-without-times", "data.split: time without a column of times", "anyone", "made", "refused with the way out",
        _file("id,x,z,label", _sorted_label), Refused("no_times", ("time_column",)), settings={"split": "time"}),
    Row("files-in-between", "train.csv and test.csv with every tenth hour", "benchmarks", "made", "the files count, with a warning",
        _file("time,x,y", lambda: [r for i, r in enumerate(smooth()()) if i % 10], "train.csv",
              {"test.csv": csv("time,x,y", smooth()()[::10]), "valid.csv": csv("time,x,y", smooth()()[5::10])}),
        Reads("tabular-regression", says={FLATTERS: "not later"})),
    Row("test-in-between", "the same without valid.csv", "benchmarks", "hotel bookings",
        "the validation rows lie among the others, as the test does, with a warning",
        _file("time,x,y", lambda: [r for i, r in enumerate(smooth()()) if i % 10], "train.csv", {"test.csv": csv("time,x,y", smooth()()[::10])}),
        Reads("tabular-regression", says={"split": "lie among the training rows in time", FLATTERS: "much more alike"}), spares=SERIES),
    Row("test-that-is-later", "train.csv, and test.csv with the last hours", "field data", "made", "the latest training rows are for validation",
        _file("time,x,y", lambda: smooth()()[:360], "train.csv", {"test.csv": csv("time,x,y", smooth()()[360:])}),
        Reads("tabular-regression", says=BY_TIME, silent=(FLATTERS,)), rule=SERIES),
    Row("pictures-in-time", "a table of pictures with the time of each", "camera traps", "made", "the latest pictures are the test",
        _pictures_in_time, _read(120, "image-classification", says=BY_TIME), rule=SERIES, settings={"label_column": "kind"}),
    Row("plots-on-a-map", "latitude, longitude and a soil value", "agronomy", "F5", "at random, with a warning",
        _file("latitude,longitude,x,y", plots()), _read(400, says=AT_RANDOM | {FLATTERS: "data.split to place"}), rule=PLACES),
    Row("chance-on-a-map", "latitude, longitude and a value of chance", "agronomy", "made", "no word of places",
        _file("latitude,longitude,x,y", plots(False)), _read(400, says=AT_RANDOM, silent=(FLATTERS,)), spares=PLACES),
    Row("blocks-of-a-map", "data.split: place", "agronomy", "F5", "the rows of a square stay together",
        _file("lat,lon,x,y", plots()), _read(400, says={"split": "blocks of the map stay together"}), settings={"split": "place"}),
    Row("place-without-places", "data.split: place without coordinates", "anyone", "made", "refused with the way out",
        _file("id,x,z,label", _sorted_label), Refused("no_places", ("latitude",)), settings={"split": "place"}),
    Row("plants-in-groups", "six rows of each plant, group_column", "phenotyping", "TERRA-REF", "the rows of a plant stay together",
        _file("plant,x,z,label", _groups), _read(240, "tabular-classification", says={"split": "groups stay together"}),
        settings={"group_column": "plant", "split": "group"}),
    Row("group-without-column", "data.split: group without group_column", "anyone", "made", "refused with the columns that may be it",
        _file("plant,x,z,label", _groups), Refused("no_group", ("plant",)), settings={"split": "group"}),
    Row("place-of-folders", "data.split: time for class folders", "anyone", "made", "refused with the way out",
        lambda folder: [write(folder, f"{c}/{i}.png", picture(2 * i + k)) for k, c in enumerate("ab") for i in range(12)] and None,
        Refused("no_such_split", ("data.split",)), settings={"split": "time"}),
    Row("mixed-time-1", "a series in a nested ZIP, beside the results of a run and Thumbs.db", "the second time", "F5, F9", "all at once",
        _file("a,b", list, "notes.docx", {"d.zip": packed({"in.zip": packed({"t.csv": csv("time,x,y", smooth()())})}), "Thumbs.db": "x", **EARLIER}),
        _read(400, says=BY_TIME | {"ignored_files": "earlier run"})),
    Row("mixed-time-2", "a row clock, a camera's config.json, and HDF5", "TERRA-REF", "F5, F11", "all at once",
        _file("TIMESTAMP_START,x,y", smooth(form="%Y%m%d%H%M"), "met.csv", {"config.json": '{"lens": 35}', "cube.h5": "x"}),
        _read(400, says=BY_TIME | {"ignored_files": "HDF5"})),
    Row("mixed-time-3", "two years in two files, days backwards, own predictions.csv as one of them", "portals", "F5, F9", "all at once",
        _file("date,x,y", lambda: smooth(form="%Y-%m-%d", minutes=1440)()[::-1][:200], "predictions.csv",
              {"older.csv": csv("date,x,y", smooth(form="%Y-%m-%d", minutes=1440)()[::-1][200:])}), _read(400, says=BY_TIME)),
    Row("mixed-time-4", "people with births, an id that counts, sorted by class, beside results", "medicine", "F5, F9", "at random",
        _file("id,born,x,label", lambda: [[i, b[0], b[1], "ab"[i // 150]] for i, b in enumerate(births()())], more=EARLIER),
        _read(300, "tabular-classification", says=AT_RANDOM, silent=(FLATTERS,))),
    Row("mixed-time-5", "pictures of lost folders, results of a run, and a nested ZIP of notes", "Clowder", "F9, F10", "all at once",
        lambda folder: [write(folder, n, c) for n, c in {**{f"{i}.png": picture(i) for i in range(24)}, **EARLIER, "n.zip": packed({"a.zip": packed(
            {"x.docx": "x"})}), "labels.csv": key([f"d/{i}.png" for i in range(24)])}.items()] and None,
        _read(24, "image-classification")),
)  # fmt: skip
