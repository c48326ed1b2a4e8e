"""The curves of a board in memory: their limits, which board leaves, and how a curve is thinned."""

import pytest
from tensorboard import errors
from tensorboard.data import provider

from trainer.board import curves
from trainer.board.curves import Boards, Curves, Unreadable


def line(count: int) -> list:
    return [[i, 100.0 + i, i / 2] for i in range(count)]


def curves_of(document: dict) -> Curves:
    boards = Boards()
    boards.put("b", document)
    return Curves(boards)


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "a board is an object of runs"),
        (None, "a board is an object of runs"),
        ({"run": []}, "a run is an object of curves"),
        ({"run": {"loss": []}}, "a curve is a list of points"),
        ({"run": {"loss": {"0": 1}}}, "a curve is a list of points"),
        ({"run": {"loss": [5]}}, "a point has a step, a time and a value"),
        ({"run": {"loss": [[1, 2]]}}, "a point has a step, a time and a value"),
        ({"run": {"loss": [["x", 1, 1]]}}, "a point has a step, a time and a value"),
        ({"run": {"loss": [{"step": 1}]}}, "a point has a step, a time and a value"),
        ({"run": {"loss": [[float("inf"), 1, 1]]}}, "a point has a step, a time and a value"),
        ({"run": {"loss": [[1, float("nan"), 1]]}}, "a point has finite numbers"),
        ({"run": {"loss": [[1, 1, float("inf")]]}}, "a point has finite numbers"),
    ],
)
def test_a_document_that_is_no_board_is_refused_and_the_board_stays(document, sentence):
    boards = Boards()
    boards.put("b", {"run": {"loss": line(1)}})
    before = boards.get("b")
    with pytest.raises(Unreadable) as refused:
        boards.put("b", document)
    assert str(refused.value) == sentence
    assert boards.get("b") is before


@pytest.mark.parametrize(("most_curves", "most_points", "fits"), [(3, 6, True), (2, 6, False), (3, 5, False)])
def test_the_limits_of_a_board(monkeypatch, most_curves, most_points, fits):
    monkeypatch.setattr(curves, "MOST_CURVES", most_curves)
    monkeypatch.setattr(curves, "MOST_POINTS", most_points)
    document = {"a": {"x": line(2), "y": line(2)}, "b": {"x": line(2)}}
    if fits:
        assert curves_of(document)
        return
    with pytest.raises(Unreadable, match=r"^there are too many curves$"):
        curves_of(document)


def test_the_board_that_nobody_has_looked_at_for_the_longest_time_leaves(monkeypatch):
    monkeypatch.setattr(curves, "MOST_BOARDS", 2)
    boards = Boards()
    boards.put("a", {})
    boards.put("b", {})
    assert boards.get("a") == {}
    boards.put("c", {})
    assert [boards.get(n) for n in "abc"] == [{}, None, {}]


@pytest.mark.parametrize(
    ("count", "most", "steps"),
    [(5, None, [0, 1, 2, 3, 4]), (5, 0, [0, 1, 2, 3, 4]), (5, 5, [0, 1, 2, 3, 4]), (5, 4, [0, 1, 2, 4]), (5, 2, [0, 4]), (5, 1, [4]), (1, 1, [0])],
)
def test_a_curve_is_thinned_and_keeps_its_ends(count, most, steps):
    found = curves_of({"r": {"t": line(count)}}).read_scalars(experiment_id="b", plugin_name="scalars", downsample=most)
    assert [d.step for d in found["r"]["t"]] == steps


@pytest.mark.parametrize(
    ("runs", "tags", "found"),
    [
        (None, None, {"a": {"x", "y"}, "b": {"x"}}),
        (["a"], None, {"a": {"x", "y"}}),
        (None, ["y"], {"a": {"y"}}),
        (["b"], ["y"], {}),
        ([], None, {}),
        (["z"], None, {}),
    ],
)
def test_only_the_wanted_curves_are_read(runs, tags, found):
    read = curves_of({"a": {"x": line(1), "y": line(1)}, "b": {"x": line(1)}, "c": {}})
    wanted = provider.RunTagFilter(runs=runs, tags=tags)
    for call in (read.list_scalars, read.read_scalars, read.read_last_scalars):
        got = call(experiment_id="b", plugin_name="scalars", run_tag_filter=wanted)
        assert {run: set(lines) for run, lines in got.items()} == found
        assert call(experiment_id="b", plugin_name="images", run_tag_filter=wanted) == {}


def test_what_tensorboard_hears_of_a_board():
    read = curves_of({"a": {"x": [[3, 5.0, 1], [4, 2.0, 7]]}, "empty": {}})
    assert read.list_plugins(experiment_id="b") == ["scalars", "timeseries"]
    assert [(r.run_id, r.start_time) for r in read.list_runs(experiment_id="b")] == [("a", 5.0), ("empty", None)]
    series = read.list_scalars(experiment_id="b", plugin_name="scalars")["a"]["x"]
    assert (series.max_step, series.max_wall_time, series.display_name) == (4, 5.0, "x")
    assert read.read_last_scalars(experiment_id="b", plugin_name="scalars")["a"]["x"].value == 7
    assert curves_of({"a": {}}).list_plugins(experiment_id="b") == []
    with pytest.raises(errors.NotFoundError, match=r"There is no such board."):
        read.list_plugins(experiment_id="other")
