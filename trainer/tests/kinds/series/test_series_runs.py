"""Trainings of series, from the table to the forecast and back."""

import csv
import io
import math
import random

import pytest
from result_checks import check_training, codes, facts_of, predictions, result_of, weights

from trainer.run import run


def monthly(years: int = 8, stations: int = 1, begin: int = 2010, seed: int = 1) -> str:
    """A table of months: a trend, a season and some chance, of one series or several."""
    chance = random.Random(seed)
    rows = [
        f"{f's{s},' if stations > 1 else ''}{begin + m // 12}-{m % 12 + 1:02},{20 * s + 50 + 0.3 * m + 8 * math.sin(m * math.pi / 6) + chance.gauss(0, 1):.3f}"
        for s in range(stations)
        for m in range(12 * years)
    ]
    return "\n".join([f"{'station,' if stations > 1 else ''}month,value", *rows]) + "\n"


def forecast_of(folder) -> list[dict]:
    return list(csv.DictReader(io.StringIO((folder / "out" / "forecast.csv").read_text())))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return {}


def test_a_table_of_times_and_values_is_forecast(make_run, schemas):
    spec = make_run({"levels.csv": monthly()})
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert result["task"] == "forecast"
    assert result["metrics"]["test"]["mase"]["value"] < 0.8
    assert {b["name"]: b["role"] for b in result["metrics"]["baselines"]} == {"naive": "simple"}
    ahead = forecast_of(spec.parent)
    assert [r["time"] for r in ahead] == [f"2018-{m:02}" for m in range(1, 13)]
    assert all(float(r["lower_90"]) <= float(r["lower_80"]) <= float(r["forecast"]) <= float(r["upper_80"]) for r in ahead)
    assert len(predictions(spec.parent)) == result["data"]["rows"]["test"] == 12
    assert {"path": "out/forecast.csv", "title": "Forecast"}.items() <= next(a for a in result["artifacts"] if a["path"] == "out/forecast.csv").items()
    assert facts_of(result, "Forecast")["One step"] == "month"
