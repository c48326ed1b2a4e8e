"""Of several starts of a run one may write. The others change nothing, whenever they are overtaken."""

import errno
import os
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import events_of, small_reviews
from process_faults import KILLED, asleep, exit_code, run_apart, start_apart, undisturbed, wake  # noqa: F401 - fixtures
from result_checks import check_success, result_of, weights

from trainer.run_folder import lease as leases
from trainer.run_folder.events import Events
from trainer.run_folder.lease import LEASE_LOST, Lease, LeaseLost

OPTIONS = {"model": "bert-tiny", "max_length": 16, "epochs": 3, "more_options": "early_stopping_patience: 0"}
STEPS, PUBLISHED = 6, 8  # of such a training: two in each epoch; two for each checkpoint and two for the results


@pytest.fixture
def claims(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run" / "work"


def made(lease: Lease, text: str) -> Path:
    """A file that ``lease`` could publish."""
    file = lease.folder / "made.txt"
    file.write_text(text)
    return file


def test_a_later_start_takes_over_and_an_earlier_one_can_change_nothing(claims):
    place = claims.parent / "place.txt"
    first = leases.take(claims)
    staged = made(first, "first")
    second = leases.take(claims)
    assert second.held() and not first.held()
    second.publish(made(second, "second"), place)
    for attempted in (lambda: first.publish(staged, place), lambda: first.remove(place), lambda: first.write_json(place, {}), first.check):
        with pytest.raises(LeaseLost):
            attempted()
    assert place.read_text() == "second"
    assert [p.name for p in claims.iterdir()] == [second.folder.name]


@pytest.mark.parametrize("call", ["replace", "rename"])
def test_a_lease_lost_between_the_check_and_the_write_changes_nothing(claims, monkeypatch, call):
    place = claims.parent / "place.txt"
    first = leases.take(claims)
    first.publish(made(first, "before"), place)
    staged, real = made(first, "first"), getattr(os, call)

    def overtaken(*args):
        monkeypatch.undo()
        leases.take(claims)
        return real(*args)

    monkeypatch.setattr(os, call, overtaken)
    with pytest.raises(LeaseLost):
        first.publish(staged, place) if call == "replace" else first.remove(place) or first.check()
    assert place.read_text() == "before"


def test_a_higher_attempt_wins_even_if_it_started_earlier(claims):
    second = leases.take(claims, attempt=2)
    for _ in range(2):
        with pytest.raises(LeaseLost):
            leases.take(claims, attempt=1)
    assert second.held()
    third = leases.take(claims, attempt=2)
    assert third.held() and not second.held()


def test_of_many_simultaneous_starts_exactly_one_may_write(claims):
    gate = threading.Barrier(12)

    def start(number: int) -> Lease | None:
        gate.wait()
        try:
            return leases.take(claims, attempt=1 + number % 2)
        except LeaseLost:
            return None

    with ThreadPoolExecutor(12) as pool:
        taken = [lease for lease in pool.map(start, range(12)) if lease is not None]
    held = [lease for lease in taken if lease.held()]
    assert [lease.folder.name.partition("-")[0] for lease in held] == ["2"]
    assert [p.name for p in claims.iterdir()] == [held[0].folder.name]


def test_an_unreachable_volume_does_not_lose_the_lease(claims, monkeypatch):
    lease = leases.take(claims)

    def unreachable(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("builtins.open", unreachable)
    assert lease.held()
    monkeypatch.undo()
    claims.rename(claims.with_name("gone"))
    assert not lease.held()


def test_the_lease_of_a_worker_ends_with_the_lease_of_its_start(claims):
    start = leases.take(claims)
    worker = leases.take(start.folder / "worker", within=start)
    another = leases.take(start.folder / "worker", within=start)
    assert another.held() and not worker.held() and start.held()
    leases.take(claims)
    assert not another.held() and not start.held()


@pytest.mark.parametrize("litter", [True, False])
def test_a_worker_gets_no_lease_after_its_start_lost_its_own(claims, litter):
    start = leases.take(claims)
    leases.take(claims)
    if litter:  # what the overtaken driver still makes
        (start.folder / "expanded").mkdir(parents=True)
    with pytest.raises(LeaseLost):
        leases.take(start.folder / "worker", within=start)


def test_ending_a_lease_deletes_its_files_and_keeps_the_lease(claims):
    lease = leases.take(claims)
    (lease.folder / "deep" / "er").mkdir(parents=True)
    made(lease, "x")
    lease.end()
    assert [p.name for p in lease.folder.iterdir()] == [leases.FILE]
    assert lease.held()


def test_a_folder_is_replaced_as_a_whole(claims):
    lease, place = leases.take(claims), claims.parent / "out"
    for content in ({"a", "b"}, {"b", "c"}):
        folder = lease.folder / "out"
        folder.mkdir()
        for name in content:
            (folder / name).touch()
        lease.publish(folder, place)
        assert {p.name for p in place.iterdir()} == content


def test_events_end_a_line_that_was_begun_and_are_not_written_without_a_lease(claims):
    log = claims.parent / "events.jsonl"
    first = Events(log, 1, leases.take(claims))
    log.write_text('{"half":')
    first.phase("start", "First.")
    second = Events(log, 1, leases.take(claims))
    second.phase("start", "Second.")
    with pytest.raises(LeaseLost):
        first.phase("start", "Late.")
    lines = log.read_text().splitlines()
    assert lines[0] == '{"half":'
    assert [("First." in line, "Second." in line) for line in lines[1:]] == [(True, False), (False, True)]


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a run but its logs, to which also an overtaken start may add a line."""
    files = (p for p in folder.rglob("*") if p.is_file() and p.name != "log.txt" and p.parent.name != "tensorboard")
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


@pytest.mark.parametrize("number", range(1, PUBLISHED + 1))
def test_a_driver_that_slept_through_the_whole_training_of_another_changes_nothing(
    make_run,
    start_apart,  # noqa: F811
    run_apart,  # noqa: F811
    undisturbed,  # noqa: F811
    schemas,
    number,
):
    spec = make_run({"all.csv": small_reviews(60)}, **OPTIONS)
    old = start_apart(spec, "replace", number, signal.SIGSTOP)
    assert asleep(old)
    spec = make_run({"all.csv": small_reviews(60)}, attempt=1 + number % 2, **OPTIONS)
    assert run_apart(spec) == 0
    check_success(spec.parent, schemas)
    before = contents(spec.parent)
    wake(old)
    assert exit_code(old) == LEASE_LOST
    assert contents(spec.parent) == before
    assert weights(spec.parent) == undisturbed(spec)
    assert str(LeaseLost()) in (spec.parent / "log.txt").read_text()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_starts_killed_or_suspended_at_random_end_with_the_weights_of_an_undisturbed_run(
    make_run,
    start_apart,  # noqa: F811
    run_apart,  # noqa: F811
    undisturbed,  # noqa: F811
    schemas,
    seed,
):
    chance = random.Random(seed)
    spec = make_run({"all.csv": small_reviews(60)}, seed=seed, **OPTIONS)
    sleeping = []
    # However far it has come, each start has two things to publish: out/ and result.json.
    places = [chance.choice([("step", chance.randint(1, STEPS)), ("replace", chance.randint(1, PUBLISHED))])]
    places += [("replace", chance.randint(1, 2)) for _ in range(2)]
    for place, number in places:
        start = start_apart(spec, place, number, chance.choice([signal.SIGSTOP, signal.SIGKILL]))
        if asleep(start):
            sleeping.append(start)
        else:
            assert start.exitcode == KILLED
    last = start_apart(spec, "replace", chance.randint(1, 2), signal.SIGSTOP)
    assert asleep(last)
    for start in [*sleeping, last]:  # they all wake while it works
        wake(start)
    assert [exit_code(start) for start in sleeping] == [LEASE_LOST] * len(sleeping)
    assert exit_code(last) == 0
    check_success(spec.parent, schemas)
    assert weights(spec.parent) == undisturbed(spec)
    assert result_of(spec.parent)["training"]["steps"] == STEPS


def test_a_lower_attempt_that_starts_after_a_higher_one_ends_at_once(make_run, start_apart, run_apart):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(60)}, attempt=2, **OPTIONS)
    higher = start_apart(spec, "step", 1, signal.SIGSTOP)
    assert asleep(higher)
    assert run_apart(make_run({"all.csv": small_reviews(60)}, attempt=1, **OPTIONS)) == LEASE_LOST
    wake(higher)
    assert exit_code(higher) == 0
    assert {e["attempt"] for e in events_of(spec.parent)} == {2}
