"""Installed models of series: what they compute, when they are delivered, and how a delivered model finds its own again."""

import json
import shutil

import numpy
import pytest
from conftest import events_of
from hypothesis import given, strategies as st
from result_checks import asked_of, check_files, check_training, codes, error_of, facts_of, result_of
from series_models import TINY, install
from small_series import monthly

from trainer.answer.model import Model
from trainer.kinds.series import forecaster, judging, methods
from trainer.kinds.series.calendar import DAY, MONTH, NUMBER, PERIOD, PLAIN, Calendar
from trainer.kinds.series.judging import Judged, Origins
from trainer.kinds.series.panel import Histories
from trainer.kinds.series.pretrained import installed, timesfm, timesfm2_5
from trainer.kinds.series.pretrained.installed import Pretrained
from trainer.models.leaned import Described
from trainer.models.weights import Unusable, Weights, configuration
from trainer.run import run

MONTHS = Calendar(MONTH, 1, 0.0, PERIOD)

_KEYS = (
    "patch_length", "context_length", "horizon_length", "num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "head_dim",
    "num_key_value_heads", "quantiles", "decode_index", "rope_parameters", "activation", "freq_size", "rms_norm_eps", "tolerance", "min_timescale",
)  # fmt: skip
_PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
_VALUES = _PLAIN | st.lists(_PLAIN, max_size=3) | st.dictionaries(st.sampled_from(["rope_type", "rope_theta", "x"]), _PLAIN, max_size=3)

FAMILIES = {
    "2.5": ("TimesFm2_5", {"num_key_value_heads": 1, "output_quantile_len": 16}),
    "2.5 from one side": ("TimesFm2_5", {"num_key_value_heads": 2, "force_flip_invariance": False, "use_bias": True, "attention_bias": True}),
    "2.0": ("TimesFm", {"use_positional_embedding": True}),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_answers_are_those_of_transformers(name, tmp_path):
    import torch
    import transformers

    family, more = FAMILIES[name]
    torch.manual_seed(1)
    theirs = getattr(transformers, f"{family}ModelForPrediction")(getattr(transformers, f"{family}Config")(**TINY, **more)).eval()
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    theirs.save_pretrained(tmp_path)
    ours = (timesfm.TimesFm if family == "TimesFm" else timesfm2_5.TimesFm2)(configuration(tmp_path), Weights(tmp_path))
    for length in (2, 13, 64, 100):
        values = numpy.cumsum(numpy.random.default_rng(length).normal(size=length)) - 30
        with torch.no_grad():
            said = theirs(past_values=[torch.tensor(values, dtype=torch.float32)], **({"freq": [1]} if family == "TimesFm" else {}))
        told = ours.ahead(values[-64:], *([1] if family == "TimesFm" else []))
        assert numpy.allclose(told, said.mean_predictions[0].numpy(), atol=2e-4), length


def pretrained(folder, calendar=MONTHS) -> Pretrained:
    return Pretrained(Described("org/tiny", "0" * 64), installed._read(folder, "once"), installed.pace_of(calendar))


def test_a_forecast_depends_on_its_history_alone_and_goes_on_beyond_the_horizon(tmp_path):
    model = pretrained(install(tmp_path))
    values = numpy.random.default_rng(1).normal(size=(3, 50))
    values[1, :20] = numpy.nan
    together = model.forecast(Histories(values, numpy.zeros(3)), 20)
    assert together.shape == (3, 20)
    assert numpy.isfinite(together).all()
    assert numpy.array_equal(model.forecast(Histories(values[1:2, 20:], numpy.zeros(1)), 20), together[1:2])
    moved = model.forecast(Histories(1e6 + 1000 * values, numpy.zeros(3)), 20)
    assert numpy.allclose(moved, 1e6 + 1000 * together, rtol=0, atol=1)
    constant = model.forecast(Histories(numpy.full((1, 30), 7.0), numpy.zeros(1)), 4)
    assert numpy.allclose(constant, 7)


@pytest.mark.parametrize(
    ("calendar", "pace"),
    [
        (Calendar(DAY, 1, 0, PLAIN), 0), (Calendar(DAY, 7, 0, PLAIN), 1), (MONTHS, 1), (Calendar(MONTH, 3, 0, PLAIN), 2),
        (Calendar(NUMBER, 1, 0, PLAIN), 0),
    ],
)  # fmt: skip
def test_the_pace_of_steps_is_told_to_models_that_know_it(calendar, pace):
    assert installed.pace_of(calendar) == pace


UNUSABLE = {
    "another type": ({"model_type": "patchtst"}, "is of the type patchtst"),
    "no layers": ({"num_hidden_layers": 0}, "has num_hidden_layers 0"),
    "a width that is a text": ({"hidden_size": "16"}, "has hidden_size 16"),
    "a width beyond all": ({"hidden_size": 1 << 40}, "has hidden_size"),
    "other shapes than the weights": ({"hidden_size": 32}, "in its weights, and its config.json says"),
    "more layers than weights": ({"num_hidden_layers": 3}, "lacks model.layers.2."),
    "another activation": ({"activation": "gelu"}, "another activation"),
    "other positions": ({"rope_parameters": {"rope_type": "yarn"}}, "rope_parameters"),
    "heads that do not fit": ({"num_key_value_heads": 2, "num_attention_heads": 3}, "number of heads"),
    "no quantiles": ({"quantiles": 3}, "quantiles"),
    "a median beyond the quantiles": ({"decode_index": 30}, "has decode_index 30"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_model_that_cannot_be_computed_says_why(name, tmp_path):
    changed, why = UNUSABLE[name]
    folder = install(tmp_path)
    config = configuration(folder) | changed
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(Unusable, match=why.replace(".", r"\.")):
        installed._read(folder, name)


@given(st.sampled_from(_KEYS), st.sampled_from([timesfm, timesfm2_5]), _VALUES)
def test_any_configuration_has_a_shape_or_says_why_not(name, family, value):
    try:
        shape = family.shape({name: value})
    except Unusable as e:
        assert str(e).startswith(("has ", "turns "))
    else:
        assert 0 < shape.parameters < 1 << 50
        assert shape.patch * shape.context * shape.horizon > 0


def test_damaged_weights_say_so(tmp_path):
    folder = install(tmp_path)
    (folder / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(Unusable, match="damaged file"):
        installed._read(folder, "damaged")


@pytest.mark.parametrize(("error", "chosen"), [(0.5, methods.INSTALLED), (0.99, methods.THETA), (2.0, methods.THETA)])
def test_an_installed_model_is_chosen_where_it_pays(error, chosen):
    """Theta is off by about 1 at each origin, the seasonal naive forecast by 3."""
    chance = numpy.random.default_rng(1).normal(1, 0.1, (3, 12, 1))
    of = {methods.NAIVE: 3 * chance[0], methods.THETA: chance[1], methods.INSTALLED: error * chance[2]}
    at = Origins(numpy.zeros(12, int), 50 + numpy.arange(12), numpy.zeros(12, int))
    assert judging.choose(Judged(at, of, numpy.zeros((12, 1)), numpy.ones(12), numpy.ones(12)))[0] == chosen


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("installed")


@pytest.fixture
def finished(kept, make_run):
    """The folder of a training that delivers a mean with an installed model."""
    if not (kept / "run").exists():
        spec = make_run({"levels.csv": monthly(stations=2)}, run="ft-finished", forecast_method="mean_installed", model="org/tiny")
        install(spec.parents[2] / "models")
        assert run(str(spec), "local") == 0
        shutil.copytree(spec.parent, kept / "run")
    return kept / "run"


def test_a_training_names_the_installed_model_and_answers_without_it(finished, schemas, tmp_path):
    result = check_training(finished, schemas)
    facts = facts_of(result, "Forecast")
    config = json.loads((finished / "out" / "model" / "config.json").read_text())
    assert facts["Installed model"].startswith(f"org/tiny, mit, sha256 {config['installed']['sha256'][:12]}")
    assert (config["method"], config["figures"].keys()) == ("mean_installed", {"naive", "mean_installed"})
    assert {e["what"]: e["choice"] for e in events_of(finished) if e["kind"] == "decision"}["installed_model"] == "org/tiny"
    settings = {s["name"]: s["value"] for s in result["settings"]}
    assert (settings["model"], settings["series_model"]) == ("auto", "org/tiny")
    model = Model(finished / "out" / "model")
    rows = (finished / "out" / "forecast.csv").read_text().splitlines()[1:3]
    for row in rows:
        station, month, forecast = row.split(",")[:3]
        asked = [{"name": n, "datatype": "BYTES", "shape": [1], "data": [v]} for n, v in (("station", station), ("month", month))]
        answer = {o["name"]: o["data"] for o in model.answer(asked)}
        assert f"{answer['value'][0]:.6g}" == forecast


def test_a_prediction_needs_the_same_installed_model(finished, make_run, schemas, tmp_path):
    version = {"path": "../../registry/model", "run": "ft-finished", "name": "model", "version": 1}
    models = tmp_path / "shared" / "models"
    shutil.copytree(finished / "out" / "model", tmp_path / "shared" / "registry" / "model")
    for seed, ends in ((None, 2), (2, 2), (1, 0)):
        if seed:
            install(models, seed=seed)
        spec = make_run({"new.csv": monthly(102, 2, 96)}, run=f"ft-ask{seed or 0}", kind="predict", more={"model": version})
        assert run(str(spec), "local") == ends
        if ends:
            error = error_of(spec.parent)
            assert error["code"] == "installed_model_missing"
            assert ("is not installed here" if seed is None else "has other files here") in error["what"]
    assert check_files(spec.parent, schemas)["prediction"]["rows"] == 24
    assert asked_of(result_of(spec.parent)["prediction"])["Installed model"].startswith("org/tiny")
    spec = make_run({"levels.csv": monthly(stations=2)}, run="ft-later", more={"champion": version}, series_model="none", forecast_method="naive")
    install(models, seed=2)
    assert run(str(spec), "local") == 0
    champion = result_of(spec.parent)["champion"]
    assert champion["comparable"] is False
    assert "has other files here than in the training" in champion["why"]


FORGED = {
    "no description": {"installed": None},
    "a hash that is none": {"installed": {"name": "org/tiny", "sha256": "../../x", "license": ""}},
    "a name that is no text": {"installed": {"name": 1, "sha256": "0" * 64, "license": ""}},
    "fewer steps than it holds": {"widths": [[1.0], [1.0]]},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_description_is_refused(finished, tmp_path, name):
    shutil.copytree(finished / "out" / "model", tmp_path / "model")
    file = tmp_path / "model" / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | FORGED[name]))
    with pytest.raises((ValueError, KeyError, TypeError)):
        forecaster.load(tmp_path / "model")


REFUSED = {
    "none installed": ({"forecast_method": "installed"}, "model_not_installed"),
    "one that is not there": ({"series_model": "org/other"}, "model_not_installed"),
    "none and needed": ({"forecast_method": "installed", "series_model": "none"}, "series_model"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_installed_model_that_is_not_there_is_said(name, make_run):
    options, code = REFUSED[name]
    spec = make_run({"levels.csv": monthly()}, **options)
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == code


@pytest.mark.parametrize(("options", "ends"), [({}, 0), ({"series_model": "org/tiny"}, 2)])
def test_a_model_without_room_is_left_out_or_refused_where_it_was_asked_for(options, ends, make_run, monkeypatch):
    monkeypatch.setattr(installed, "available", lambda: 1000)
    spec = make_run({"levels.csv": monthly()}, dry_run=True, **options)
    install(spec.parents[2] / "models")
    assert run(str(spec), "local") == ends
    if ends:
        assert error_of(spec.parent)["code"] == "model_unusable"
    else:
        assert "installed_left_out" in codes(result_of(spec.parent))
