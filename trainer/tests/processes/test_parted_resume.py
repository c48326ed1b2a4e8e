"""A prediction of many rows that is killed anywhere goes on where it was, and delivers what an undisturbed one does. Here many are some hundred."""

from pathlib import Path

from process_faults import KILLED, run_apart, start_apart  # noqa: F401 - fixtures
from result_checks import artifact_hashes, check_files
from small_datasets import flowers

from trainer.parted import rows
from trainer.run import run

ROWS, PARTS = 430, 5  # of 100 rows


def test_a_prediction_of_many_rows_that_is_killed_delivers_the_same(make_run, run_apart, schemas):  # noqa: F811
    earlier = make_run({"flowers.csv": flowers()}, run="ft-flowers", model="linear")
    assert run(str(earlier), "local") == 0
    more = {"model": {"path": "../ft-flowers/out/model", "run": "ft-flowers", "name": "flowers", "version": 1}}
    files = {"new.csv": flowers(ROWS)}
    small, whole, spec = (make_run(files, run=name, kind="predict", more=more, top_k=2) for name in ("pr-small", "pr-whole", "pr-killed"))
    assert run(str(small), "local") == 0, "here so few rows are answered together"
    assert run_apart(whole) == 0
    folder = spec.parent / rows.FOLDER
    kept: dict[Path, bytes] = {}
    for number, done in ((3, 2), (5, 6), (1, 6)):  # the answers of each part, then its lines
        assert run_apart(spec, "part", number) == KILLED
        there = {file: file.read_bytes() for file in folder.iterdir()}
        assert len(there) == done
        assert {file: there[file] for file in kept} == kept, "what was answered is not answered again"
        kept = there
        assert not (spec.parent / "result.json").exists()
    (damaged,) = folder.glob("*-0.lines")
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert run_apart(spec) == 0
    check_files(spec.parent, schemas)
    assert artifact_hashes(spec.parent) == artifact_hashes(whole.parent) == artifact_hashes(small.parent)
    assert not folder.exists()
