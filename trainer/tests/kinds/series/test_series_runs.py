"""Trainings of series, from the table to the forecast and back."""

import csv
import datetime
import io
import json
import random
import shutil

import pytest
from conftest import events_of
from result_checks import asked_of, blocks_of, check_files, check_training, codes, error_of, facts_of, predictions, result_of, weights
from small_series import monthly

from trainer.answer.model import Model
from trainer.answer.rows import Refused
from trainer.run import run
from trainer.run_folder import stop


def forecast_of(folder) -> list[dict]:
    return list(csv.DictReader(io.StringIO((folder / "out" / "forecast.csv").read_text())))


def tensor(name: str, cells: list, datatype: str = "BYTES") -> dict:
    return {"name": name, "datatype": datatype, "shape": [len(cells)], "data": cells}


def outputs(model: Model, *inputs: dict) -> dict[str, list]:
    return {o["name"]: o["data"] for o in model.answer(list(inputs))}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("series")


@pytest.fixture
def finished(kept, make_run):
    """The folder of a training on a panel of three series."""
    if not (kept / "run").exists():
        spec = make_run({"levels.csv": monthly(stations=3)}, run="ft-finished")
        assert run(str(spec), "local") == 0
        shutil.copytree(spec.parent, kept / "run")
    return kept / "run"


@pytest.fixture
def version(finished, tmp_path) -> dict:
    folder = tmp_path / "shared" / "registry" / "model"
    shutil.copytree(finished / "out" / "model", folder)
    return {"path": "../../registry/model", "run": "ft-finished", "name": "model", "version": 1}


def test_a_table_of_times_and_values_is_forecast(make_run, schemas):
    spec = make_run({"levels.csv": monthly()})
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert result["task"] == "forecast"
    assert result["metrics"]["test"]["mase"]["value"] < 0.8
    assert {b["name"]: b["role"] for b in result["metrics"]["baselines"]} == {"mean": "constant", "naive": "simple"}
    ahead = forecast_of(spec.parent)
    assert [r["time"] for r in ahead] == [f"2018-{m:02}" for m in range(1, 13)]
    for r in ahead:
        bounds = [float(r[n]) for n in ("lower_90", "lower_80", "forecast", "upper_80", "upper_90")]
        assert bounds == sorted(bounds)
    assert len(predictions(spec.parent)) == result["data"]["rows"]["test"] == 12
    delivered = next(a for a in result["artifacts"] if a["path"] == "out/forecast.csv")
    assert delivered["title"] == "Forecast"


def test_a_panel_has_a_forecast_for_each_series_and_says_what_was_compared(finished, schemas):
    result = check_training(finished, schemas)
    assert [r["station"] for r in forecast_of(finished)] == [s for s in ("s0", "s1", "s2") for _ in range(12)]
    assert facts_of(result, "Forecast")["One step"] == "month"
    table = next(b for b in blocks_of(result, "Forecast") if b["type"] == "table")
    assert [row[0]["text"].removesuffix(" (delivered)") for row in table["rows"]][:3] == [
        "seasonal naive forecast", "exponential smoothing (ETS)", "Theta",
    ]  # fmt: skip
    charts = [b["chart"] for b in blocks_of(result, "Forecast") if b["type"] == "chart"]
    assert [c.get("file", "") for c in charts] == ["forecast", "", ""]
    assert all(len(c["series"][1]["ranges"]) == 12 for c in charts)
    assert not list((finished / "out" / "model").glob("*.pkl"))


def test_a_training_is_repeated_with_the_same_bits(finished, make_run, schemas):
    spec = make_run({"levels.csv": monthly(stations=3)})
    assert run(str(spec), "local") == 0
    assert weights(spec.parent) == weights(finished)
    assert (spec.parent / "out" / "forecast.csv").read_bytes() == (finished / "out" / "forecast.csv").read_bytes()
    assert (spec.parent / "out" / "model" / "config.json").read_bytes() == (finished / "out" / "model" / "config.json").read_bytes()


def test_new_rows_continue_what_the_model_knows(finished, make_run, schemas, version):
    """With the next 6 months alone, the forecast is the one from the whole table with these months."""
    answers = []
    for begin in (96, 0):
        spec = make_run({"new.csv": monthly(102, 3, begin)}, run=f"ft-{begin}", kind="predict", more={"model": version})
        assert run(str(spec), "local") == 0
        result = check_files(spec.parent, schemas)
        assert result["prediction"]["rows"] == 36
        assert asked_of(result["prediction"])["Steps ahead"] == "12"
        drawn = [b["chart"] for s in result["sections"] for b in s["blocks"] if b["type"] == "chart"]
        assert [len(c["series"][1]["ranges"]) for c in drawn] == [12, 12, 12]
        answers.append(forecast_of(spec.parent))
    assert answers[0][0]["time"] == "2018-07"
    assert answers[0] == answers[1]


def test_a_series_that_the_model_does_not_know_is_forecast_from_its_own_history(make_run, version):
    new = monthly(60, 2).replace("s1,", "another,")
    spec = make_run({"new.csv": new}, kind="predict", more={"model": version})
    assert run(str(spec), "local") == 0
    assert {r["station"]: r["time"] for r in forecast_of(spec.parent)[::-1]} == {"s0": "2015-01", "another": "2015-01"}
    assert "per_file" not in result_of(spec.parent)["prediction"]


def test_a_few_rows_of_an_unknown_series_are_forecast_with_a_warning(make_run, version):
    spec = make_run({"new.csv": "station,month,value\nnew,2020-01,3\nnew,2020-02,4\n"}, kind="predict", more={"model": version})
    assert run(str(spec), "local") == 0
    assert codes(result_of(spec.parent)) == ["short_history"]


def test_a_table_without_the_columns_of_the_model_is_refused(make_run, version):
    spec = make_run({"new.csv": "when,what\n2020-01,3\n2020-02,4\n"}, kind="predict", more={"model": version})
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "no_data"


def test_a_step_ahead_is_answered_as_in_the_forecast(finished):
    model = Model(finished / "out" / "model")
    said = forecast_of(finished)
    assert [c.name for c in model.form.columns] == ["station", "month"]
    assert model.form.columns[0].categories == ("s0", "s1", "s2")
    given = [tensor(name, [r[of] for r in said]) for name, of in (("station", "station"), ("month", "time"))]
    found = outputs(model, *given)
    pairs = {"value": "forecast", "low": "lower_90", "high": "upper_90", "lower_80": "lower_80", "upper_80": "upper_80"}
    for name, column in pairs.items():
        assert [f"{v:.6g}" for v in found[name]] == [r[column] for r in said]
    assert outputs(model, tensor("station", ["s1"]))["value"] == found["value"][12:13], "without a moment, the next step"
    assert json.loads((finished / "out" / "model" / "trainer.json").read_text())["use"]["fields"] == [
        {"name": "station", "type": "category", "categories": ["s0", "s1", "s2"]},
        {"name": "month", "type": "category", "categories": [r["time"] for r in said[:12]]},
    ]


NOT_ANSWERED = {
    "a series that is not known": (("new", "2018-02"), "does not know the series new"),
    "a step that has been": (("s0", "2017-12"), "2018-01 to 2018-12"),
    "a step too far ahead": (("s0", "2019-01"), "2018-01 to 2018-12"),
    "no moment": (("s0", "soon"), "written like these"),
}


@pytest.mark.parametrize("name", NOT_ANSWERED)
def test_a_question_that_has_no_answer_is_refused_with_the_way_out(finished, name):
    (station, month), says = NOT_ANSWERED[name]
    with pytest.raises(Refused, match=says):
        Model(finished / "out" / "model").answer([tensor("station", [station]), tensor("month", [month])])


def test_a_model_is_its_own_equal_as_a_champion(make_run, schemas, version):
    spec = make_run({"levels.csv": monthly(stations=3)}, more={"champion": version})
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert result["champion"]["comparable"]
    own = {n: s["value"] for n, s in result["metrics"]["test"].items()}
    assert {n: s["value"] for n, s in result["champion"]["test"].items()} == pytest.approx(own)


def test_a_dry_run_trains_nothing(make_run, schemas):
    spec = make_run({"levels.csv": monthly()}, dry_run=True)
    assert run(str(spec), "local") == 0
    result = result_of(spec.parent)
    schemas["result"].validate(result)
    assert (result["kind"], result["task"]) == ("check", "forecast")


def test_a_stopped_training_ends_with_a_word(make_run, monkeypatch):
    """A forecast needs seconds and has no checkpoints, so nothing is kept."""
    spec = make_run({"levels.csv": monthly()})
    (spec.parent / stop.STOP).write_text(stop.KEEP)
    monkeypatch.setattr(stop, "clear", lambda folder: None)
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "stopped"


CASES = {
    "the last season without another word": ({}, ("horizon", 12)),
    "as many steps as asked": ({"more_options": "series.horizon: 5"}, ("horizon", 5)),
    "no season": ({"more_options": "series.season: 1"}, ("season", 1)),
}


@pytest.mark.parametrize("name", CASES)
def test_options_are_followed_and_explained(make_run, name):
    options, (what, choice) = CASES[name]
    spec = make_run({"levels.csv": monthly()}, dry_run=True, **options)
    assert run(str(spec), "local") == 0
    assert next(e["choice"] for e in events_of(spec.parent) if e["kind"] == "decision" and e["what"] == what) == choice


@pytest.mark.parametrize("method", ["naive", "ets", "theta", "trees", "mean"])
def test_a_method_that_was_asked_for_is_delivered(make_run, method):
    spec = make_run({"levels.csv": monthly(160)}, more_options=f"series.forecast_method: {method}")
    assert run(str(spec), "local") == 0
    assert json.loads((spec.parent / "out" / "model" / "config.json").read_text())["method"] == method


def test_a_method_that_the_series_are_too_short_for_is_refused(make_run):
    spec = make_run({"levels.csv": monthly(60)}, more_options="series.forecast_method: trees")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "short_series"


def test_a_covariate_that_is_known_ahead_is_used(make_run):
    chance = random.Random(5)
    rows = ["date,promo,sales"]
    for i in range(310):
        promo = int(chance.random() < 0.2)
        sales = f"{20 * promo + chance.gauss(50, 2):.2f}" if i < 290 else ""
        rows.append(f"{datetime.date(2020, 1, 1) + datetime.timedelta(days=i)},{promo},{sales}")
    more = "series.known_covariates: promo\nseries.horizon: 14"
    spec = make_run({"s.csv": "\n".join(rows) + "\n"}, task="forecast", label_column="sales", more_options=more)
    assert run(str(spec), "local") == 0
    result = result_of(spec.parent)
    assert facts_of(result, "Forecast")["Method"] == "gradient-boosted trees on lags"
    naive = result["metrics"]["baselines"][1]["test"]["mase"]["value"]
    assert result["metrics"]["test"]["mase"]["value"] < 0.5 * naive
    model = Model(spec.parent / "out" / "model")
    days = [str(datetime.date(2020, 10, 17) + datetime.timedelta(days=i)) for i in range(2)]
    none, with_promo = outputs(model, tensor("date", days), tensor("promo", [0, 1], "FP64"))["value"]
    assert with_promo > none + 10
