"""The steps of time, and the files of a model, which come from outside."""

import json
import shutil

import numpy
import pytest
from hypothesis import given, settings, strategies as st
from safetensors import numpy as safetensors

from trainer.kinds.series import calendar, columns, forecaster, judging, methods
from trainer.kinds.series.calendar import DATE, MONTH, PERIOD, PLAIN, QUARTER, TIME, WEEK, Calendar
from trainer.kinds.series.forecaster import Forecaster
from trainer.kinds.series.lags import Lags
from trainer.kinds.series.panel import Panel

_HOUR, _DAY = 3600.0, 86400.0


def seconds(*texts: str) -> numpy.ndarray:
    return numpy.array(texts, "datetime64[s]").astype(float)


STEPS = {
    "hours": (seconds("2020-01-01T00:00") + _HOUR * numpy.arange(50), True, TIME, "hour", "2020-01-03 02:00"),
    "half hours": (seconds("2020-01-01T00:00") + 1800 * numpy.arange(50), True, TIME, "30 minutes", "2020-01-02 01:00"),
    "noons": (seconds("2020-02-20T12:00") + _DAY * numpy.arange(40), True, TIME, "day", "2020-03-31 12:00"),
    "days": (seconds("2020-02-20") + _DAY * numpy.arange(40), True, DATE, "day", "2020-03-31"),
    "working days": (seconds(*(f"2021-03-{d:02}" for d in range(1, 32) if d % 7 not in (6, 0))), True, DATE, "working day", "2021-04-01"),
    "weeks": (seconds("2020-01-06") + 7 * _DAY * numpy.arange(40), True, DATE, "week", "2020-10-12"),
    "months": (seconds(*(f"{2000 + m // 12}-{m % 12 + 1:02}-01" for m in range(40))), True, PERIOD, "month", "2003-05"),
    "ends of months": (seconds("2020-01-31", "2020-02-29", "2020-03-31", "2020-04-30"), True, DATE, "month", "2020-05-31"),
    "quarters": (seconds("2020-01-01", "2020-04-01", "2020-07-01"), True, QUARTER, "3 months", "2020Q4"),
    "days of years": (seconds("2018-01-01", "2019-01-01", "2020-01-01"), True, DATE, "year", "2021-01-01"),
    "years": (numpy.arange(1900.0, 1950), False, PLAIN, "1", "1950"),
    "hours that tremble": (
        seconds("2020-01-01T00:00") + _HOUR * numpy.arange(50) + numpy.arange(50) * 37 % 81 - 40,
        True,
        TIME,
        "hour",
        "2020-01-03 02:00",
    ),
    "hours of a slow clock": (seconds("2020-01-01T00:00") + 3607 * numpy.arange(500), True, TIME, "3607 seconds", "2020-01-21 20:58:20"),
    "an hour that is missing": (seconds("2021-03-28T00:00", "2021-03-28T01:00", "2021-03-28T03:00", "2021-03-28T04:00"), True, TIME, "hour", ""),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_steps_of_times_are_found_and_go_on(name):
    times, dated, form, words, following = STEPS[name]
    found, regular = calendar.found(times, numpy.zeros(len(times), int), dated, form)
    assert found is not None
    assert (found.words, regular) == (words, 1.0)
    numbers = found.numbers(times)
    assert (numpy.diff(numbers) >= 1).all()
    assert not following or found.text(int(numbers[-1]) + 1) == following
    assert Calendar.restored(json.loads(json.dumps(found.described()))) == found


def test_a_week_is_written_as_it_is_read():
    mondays = seconds("1998-12-28") + 7 * _DAY * numpy.arange(1700)
    found, _ = calendar.found(mondays, numpy.zeros(len(mondays), int), True, WEEK)
    assert found is not None
    written = [found.text(int(n)) for n in found.numbers(mondays)]
    assert written[0] == "1998-W53"
    assert numpy.array_equal(columns.weeks(written), mondays)


def test_times_without_steps_are_not_regular():
    times = seconds("2020-01-01") + _DAY * numpy.sort(numpy.random.default_rng(1).choice(5000, 200, replace=False))
    assert calendar.found(times, numpy.zeros(200, int), True, DATE)[1] < calendar.REGULAR


def test_a_moment_behind_the_last_year_of_the_calendar_is_said():
    assert Calendar(MONTH, 1, (9999 - 1970) * 12, PERIOD).text(20) == "after the year 9999"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder of a forecaster with trees, and what it answers."""
    values = 50 + 9 * numpy.sin(numpy.arange(120) * numpy.pi / 6) + numpy.random.default_rng(1).normal(size=120)
    panel = Panel((("a",),), (values,), (numpy.ones(120, bool),), numpy.zeros(1, numpy.int64))
    how = Lags(12, Calendar(MONTH, 1, 0.0, PERIOD), 0)
    fitted = methods.fit(panel, numpy.array([120]), how, 1)
    folder = tmp_path_factory.mktemp("forecaster")
    Forecaster(methods.MEAN, fitted, numpy.ones((len(judging.LEVELS), 6)), {"naive": (1.0, 0.1)}, 3, panel).save(folder)
    return folder


def test_a_forecaster_is_read_as_it_was_written(saved, tmp_path):
    forecaster.load(saved).save(tmp_path)
    for file in saved.iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


FORGED = {
    "no season": {"season": 0},
    "an endless season": {"season": 10**9},
    "a season that is no number": {"season": "12"},
    "an unknown method": {"method": "oracle"},
    "steps of no length": {"calendar": {"unit": MONTH, "size": 0, "origin": 0, "form": PERIOD, "day": 1}},
    "steps of another unit": {"calendar": {"unit": "eon", "size": 1, "origin": 0, "form": PERIOD, "day": 1}},
    "intervals of negative width": {"widths": [[-1.0], [1.0]]},
    "one interval": {"widths": [[1.0]]},
    "more series than histories": {"series": [["a"], ["b"]]},
    "ids that are no texts": {"series": [[{"a": 1}]]},
    "covariates without values": {"covariates": ["x"]},
    "another model": {"model_type": "trees"},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_description_is_refused(saved, tmp_path, name):
    shutil.copytree(saved, tmp_path / "model")
    config = json.loads((saved / "config.json").read_text())
    (tmp_path / "model" / "config.json").write_text(json.dumps(config | FORGED[name]))
    with pytest.raises((ValueError, KeyError, TypeError)):
        forecaster.load(tmp_path / "model")


HISTORIES = {
    "lengths that do not add up": {"lengths": numpy.array([7])},
    "negative lengths": {"lengths": numpy.array([-120])},
    "no numbers": {"values": numpy.full(120, numpy.nan)},
    "another type": {"values": numpy.zeros(120, numpy.float32)},
    "a first step that no calendar has": {"firsts": numpy.array([2**62])},
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_forged_history_is_refused(saved, tmp_path, name):
    shutil.copytree(saved, tmp_path / "model")
    tensors = safetensors.load_file(saved / forecaster.HISTORY) | HISTORIES[name]
    (tmp_path / "model" / forecaster.HISTORY).write_bytes(safetensors.save(tensors))
    with pytest.raises(ValueError, match=r"history|lengths"):
        forecaster.load(tmp_path / "model")


DAMAGED = {
    "no tensors": b"damaged",
    "no steps": safetensors.save({"values": numpy.zeros(3)}),
    "no series": safetensors.save({"firsts": numpy.zeros(0, numpy.int64), "lengths": numpy.zeros(0, numpy.int64)}),
    "other types": safetensors.save({"firsts": numpy.zeros(1), "lengths": numpy.zeros(1)}),
    "other lengths": safetensors.save({"firsts": numpy.zeros(2, numpy.int64), "lengths": numpy.zeros(1, numpy.int64)}),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_have_no_last_steps(tmp_path, name):
    (tmp_path / forecaster.HISTORY).write_bytes(DAMAGED[name])
    with pytest.raises(ValueError, match=r"cannot be read|lengths"):
        forecaster.lasts(tmp_path)


_JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda v: st.lists(v, max_size=3), max_leaves=6)


@given(st.sampled_from(["season", "method", "calendar", "covariates", "widths", "figures", "origins", "trees", "series"]), _JSON)
@settings(max_examples=150, deadline=None)
def test_any_value_in_the_description_is_read_or_refused(saved, tmp_path_factory, key, value):
    folder = tmp_path_factory.mktemp("forged")
    for file in saved.iterdir():
        (folder / file.name).hardlink_to(file)
    config = json.loads((saved / "config.json").read_text()) | {key: value}
    (folder / "config.json").unlink()
    (folder / "config.json").write_text(json.dumps(config))
    try:
        forecaster.load(folder)
    except (ValueError, KeyError, TypeError):
        pass
