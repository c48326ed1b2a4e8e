"""The ensemble of the models of tables: shares, rows that were held out, the mean of the models of all folds, and damaged or forged files."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy
import pytest
from safetensors import numpy as safetensors
from test_trees import EDGES, SETTINGS, dataset, fitted, mixed, target_of

from trainer.kinds.boosted import averaged, boosting
from trainer.kinds.table import ensemble, held_out, linear, perceptron, shares, trees


def joined(data, before=None, **settings):
    return ensemble.fit(data, target_of(data), SimpleNamespace(**{**vars(SETTINGS), **settings}), before or {})


@pytest.fixture(scope="module", params=[False, True], ids=["classes", "numbers"])
def whole(request):
    """A table and its ensemble."""
    data = mixed(96, request.param)
    return data, joined(data)


def squared(truth):
    return lambda outputs: float(((outputs - truth) ** 2).mean())


def test_shares_prefer_what_is_right_and_mix_what_errs_in_opposite_ways():
    truth = numpy.arange(40.0)
    above, below, useless = truth + 1, truth - 1, -truth
    assert shares.greedy([truth, above, useless], squared(truth)) == ([1, 0, 0], 0)
    found, loss = shares.greedy([above, below, useless], squared(truth))
    assert (found, loss) == ([0.5, 0.5, 0], 0)
    alone, _ = shares.greedy([useless], squared(truth))
    assert alone == [1]
    three, loss = shares.greedy([truth + 2, truth - 1], squared(truth), steps=3)
    assert three == pytest.approx([1 / 3, 2 / 3]) and loss == pytest.approx(0)


def test_the_mean_of_probabilities_is_that_of_their_logarithms():
    one, other = numpy.array([[0.5, 0.5], [1.0, 0.0]]), numpy.array([[0.1, 0.9], [0.5, 0.5]])
    found = shares.mean([one, other], [0.5, 0.5])
    assert found[0] == pytest.approx(numpy.array([1, 3]) / 4)
    assert found.sum(axis=1) == pytest.approx([1, 1]) and 0.999 < found[1, 0] < 1
    assert shares.mean([one[:, 0], other[:, 0]], [0.25, 0.75]).tolist() == [0.2, 0.625]


def test_a_handful_of_rows_has_no_ensemble():
    assert joined(EDGES["ten rows of two classes"]()) is None


def test_an_ensemble_is_at_least_as_good_on_held_out_rows_as_each_of_its_models(whole):
    data, found = whole
    held = held_out.rows(data, target_of(data), SETTINGS)
    assert len(held.examples) == len(data.splits["train"]) + len(data.splits["validation"])
    losses = [m.loss for m in found.members] + [loss for _, loss in found.left_out]
    assert len(losses) == 5 and found.loss <= min(losses)
    assert found.held_out_loss == found.loss
    assert sum(m.share for m in found.members) == pytest.approx(1)


def test_a_saved_ensemble_answers_as_before(whole, tmp_path):
    data, found = whole
    found.save(tmp_path)
    assert {f.name for f in tmp_path.iterdir()} == {"weights.safetensors", "config.json"}
    again = ensemble.load(tmp_path)
    test = data.splits["test"]
    assert (again.outputs(test) == found.outputs(test)).all()
    assert (again.parameters, again.labels, again.left_out) == (found.parameters, found.labels, found.left_out)
    one = numpy.concatenate([again.outputs([e]) for e in test])
    assert (one == found.outputs(test)).all() or one == pytest.approx(found.outputs(test), rel=1e-5)
    assert found.outputs([]).shape == ((0, 3) if data.labels else (0,))


def test_held_out_rows_are_answered_by_models_that_have_not_seen_them(whole):
    data, found = whole
    held = held_out.rows(data, target_of(data), SETTINGS)
    judged = found.judged.outputs(held.examples)
    assert held.loss(judged) == pytest.approx(found.loss)
    assert held.loss(found.outputs(held.examples)) < found.loss  # they have seen them
    test = data.splits["test"]
    both = found.judged.outputs([*test, *data.splits["validation"]])
    assert (both[: len(test)] == found.outputs(test)).all()
    assert (both[len(test) :] == found.judged.outputs(data.splits["validation"])).all()


def test_models_that_were_fitted_before_are_not_fitted_again(whole, tmp_path, monkeypatch):
    data, found = whole
    before = {m.NAME: fitted(data, m) for m in (linear, trees, perceptron)}
    for module in (linear, trees, perceptron):
        monkeypatch.setattr(module, "fit", None)
    for name, model in (("a", found), ("b", joined(data, before))):
        (tmp_path / name).mkdir()
        model.save(tmp_path / name)
    files = sorted(f.name for f in (tmp_path / "a").iterdir())
    assert files == sorted(f.name for f in (tmp_path / "b").iterdir())
    assert all((tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files)
    without = joined(data, {**before, perceptron.NAME: None})
    assert {m.kind for m in without.members} <= {linear.NAME, trees.NAME}


@pytest.mark.parametrize("name", ["a class of one row", "a column of empty cells", "one value in all rows", "more columns than rows"])
def test_unusual_tables(name, tmp_path):
    data = EDGES[name]()
    found = joined(data)
    assert found is not None
    found.save(tmp_path)
    outputs = ensemble.load(tmp_path).outputs(data.splits["test"])
    assert outputs.shape == (len(data.splits["test"]), len(data.labels)) and numpy.isfinite(outputs).all()
    assert outputs.sum(axis=1) == pytest.approx(numpy.ones(len(outputs)))


def test_validation_rows_that_a_person_chose_are_never_trained_on():
    data = mixed(96)
    assert held_out.turns(data, target_of(data), SETTINGS) is not None
    asked = SimpleNamespace(**{**vars(SETTINGS), "validation_file": "held.csv"})
    assert held_out.turns(data, target_of(data), asked) is None
    assert joined(data, validation_file="held.csv") is None  # 12 rows cannot choose shares
    many = mixed(8 * ensemble._FEWEST)
    found = joined(many, validation_file="held.csv")
    assert (found.held_out_loss, found.judged) == (None, None)
    for member in found.members:
        alone = fitted(many, {"linear": linear, "trees": trees, "perceptron": perceptron}[member.kind], validation_file="held.csv")
        if member.title == member.kind == linear.NAME:
            assert (member.model.weights == alone.weights).all()
        assert member.model.parameters <= 2 * alone.parameters  # of the training rows, and not of several folds


def test_the_latest_rows_judge_alone_where_there_are_many():
    data = mixed(8 * 600)
    early = [replace(e, when=float(i)) for i, e in enumerate(data.splits["train"])]
    late = [replace(e, when=1e6) for e in data.splits["validation"]]
    data.splits.update(train=early, validation=late)
    assert held_out.turns(data, target_of(data), SETTINGS) is None
    data.splits["validation"] = late[:100]
    assert held_out.turns(data, target_of(data), SETTINGS) is not None


def test_rows_with_an_unknown_label_are_not_held_out():
    data = mixed(48)
    data.splits["validation"].append(replace(data.splits["validation"][0], target="never seen"))
    found = joined(data)
    assert found.judged.outputs(data.splits["validation"]).shape == (len(data.splits["validation"]), 3)


def forest_of(cells, targets, classes, known, rounds=8):
    return boosting.fit(boosting.Rows(cells, targets), None, known, classes, boosting.SHAPES[1], rounds, 1)


@pytest.mark.parametrize("classes", [0, 2, 3], ids=["numbers", "two classes", "three classes"])
def test_the_mean_of_forests_has_the_mean_of_their_scores(classes):
    chance = numpy.random.default_rng(classes)
    found = []
    for _ in range(3):
        cells = numpy.column_stack([chance.normal(size=90), chance.integers(0, 5, 90)])
        value = cells[:, 0] + (cells[:, 1] == 2)
        targets = numpy.digitize(value, [0.0, 1.0][: classes - 1]) if classes else value
        found.append(forest_of(cells, targets, classes, [0, 5], int(chance.integers(3, 9))).forest)
    asked = numpy.column_stack([chance.normal(size=50), chance.integers(0, 5, 50)])
    assert averaged.mean(found).scores(asked) == pytest.approx(numpy.mean([f.scores(asked) for f in found], axis=0))


@pytest.mark.parametrize(
    ("present", "wanted"), [([0, 1], [0, 1, 2]), ([1], [0, 1]), ([0], [0, 1]), ([2], [0, 1, 2]), ([0, 2, 3], [0, 1, 2, 3])],
)  # fmt: skip
def test_a_forest_gets_an_output_for_a_class_that_it_has_not_seen(present, wanted):
    chance = numpy.random.default_rng(0)
    cells, targets = chance.normal(size=(60, 2)), numpy.asarray(present)[numpy.arange(60) % len(present)]
    fit = forest_of(cells, targets, 4, [0, 0])
    whole = averaged.with_absent(fit.forest, fit.present, numpy.asarray(wanted), 60)
    likely = trees._probabilities(whole.scores(cells), len(wanted))
    before = trees._probabilities(fit.forest.scores(cells), len(present))
    absent = [i for i, c in enumerate(wanted) if c not in present]
    assert likely.shape == (60, len(wanted)) and (likely[:, absent] < 0.1).all() and (likely[:, absent] > 1e-4).all()
    kept = likely[:, [wanted.index(p) for p in present]]
    assert kept / kept.sum(axis=1, keepdims=True) == pytest.approx(before)


def test_the_first_rounds_of_a_forest_are_the_forest_of_fewer_rounds():
    chance = numpy.random.default_rng(3)
    cells = numpy.column_stack([chance.normal(size=200), chance.integers(0, 9, 200)])
    targets = (cells[:, 0] > 0) + (cells[:, 1] > 4).astype(int)
    many, few = (forest_of(cells, targets, 3, [0, 9], rounds).forest for rounds in (12, 4))
    assert (many.first(4).scores(cells) == few.scores(cells)).all()
    assert len(many.first(4).feature) == len(few.feature) and len(many.first(4).categories) == len(few.categories)
    assert many.first(99).scores(cells) == pytest.approx(many.scores(cells))


def test_a_category_that_trees_have_not_seen_goes_where_an_empty_cell_goes():
    chance = numpy.random.default_rng(4)
    cells = numpy.column_stack([chance.choice([1, 4, 6], 300), chance.normal(size=300)]).astype(float)
    cells[chance.random(300) < 0.1, 0] = numpy.nan
    forest = forest_of(cells, (cells[:, 0] == 4).astype(float) + 0.1 * cells[:, 1], 0, [8, 0]).forest
    assert (forest.subset >= 0).any()
    asked = numpy.column_stack([numpy.arange(8.0), numpy.zeros(8)])
    empty = forest.scores(numpy.array([[numpy.nan, 0.0]]))[0, 0]
    scores = forest.scores(asked)[:, 0]
    assert (scores[[0, 2, 3, 5, 7]] == empty).all()
    assert scores[4] > max(scores[1], scores[6])


def test_networks_side_by_side_answer_the_mean():
    chance = numpy.random.default_rng(1)

    def network(*sizes):
        return tuple((chance.normal(size=(a, b)).astype("f4"), chance.normal(size=b).astype("f4")) for a, b in zip(sizes, sizes[1:], strict=False))

    values = chance.normal(size=(20, 3)).astype(numpy.float32)
    for sizes in ((3, 4, 5, 2), (3, 4, 1), (3, 2)):
        several = [network(*sizes) for _ in range(3)]
        mean = numpy.mean([perceptron._scores(n, values) for n in several], axis=0)
        assert perceptron._scores(perceptron.mean(several), values) == pytest.approx(mean, rel=1e-4, abs=1e-5)


WRONG = {
    "the name of another model": {"model_type": "trees"},
    "no members": {"members": []},
    "too many members": {"members": [{"title": chr(97 + i), "kind": "linear", "share": 0.1, "loss": 1} for i in range(10)]},
    "members of no list": {"members": 7},
    "a label too many": {"labels": ["0", "1", "2", "3"]},
    "a loss that is no number": {"loss": float("nan")},
}
WRONG_MEMBERS = {
    "an unknown estimator": {"kind": "os"},
    "a title without tensors": {"title": "nothing"},
    "the model of another member": {"model": {"model_type": "words"}},
    "a title that is a number": {"title": 7},
    "no share": {"share": 0},
    "a share over one": {"share": 1.5},
    "a share that is no number": {"share": float("nan")},
    "shares of another sum": {"share": 0.0123},
    "a loss that is no number": {"loss": "inf"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("ensemble")
    joined(dataset([[i, i % 3] for i in range(60)], [int(i % 7 > 3) + int(i % 5 > 3) for i in range(60)], ["number", "category"])).save(found)
    return found


def changed(folder, tmp_path, change):
    (tmp_path / "weights.safetensors").write_bytes((folder / "weights.safetensors").read_bytes())
    (tmp_path / "config.json").write_text(json.dumps(change(json.loads((folder / "config.json").read_text()))))
    return tmp_path


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_an_ensemble_with_another_description_is_refused(change, folder, tmp_path):
    with pytest.raises((ValueError, KeyError, TypeError, OSError)):
        ensemble.load(changed(folder, tmp_path, lambda c: {**c, **change}))


@pytest.mark.parametrize("change", WRONG_MEMBERS.values(), ids=WRONG_MEMBERS)
def test_an_ensemble_with_a_wrong_member_is_refused(change, folder, tmp_path):
    with pytest.raises((ValueError, KeyError, TypeError, OSError)):
        ensemble.load(changed(folder, tmp_path, lambda c: {**c, "members": [{**c["members"][0], **change}, *c["members"][1:]]}))


def test_an_ensemble_without_one_of_the_tensors_of_a_member_is_refused(folder, tmp_path):
    changed(folder, tmp_path, lambda c: c)
    whole = safetensors.load_file(folder / "weights.safetensors")
    for name in whole:
        safetensors.save_file({n: t for n, t in whole.items() if n != name}, tmp_path / "weights.safetensors")
        with pytest.raises((ValueError, KeyError)):
            ensemble.load(tmp_path)
