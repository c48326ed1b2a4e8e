"""The libraries that compute with one thread."""

import sys
from types import ModuleType

import numpy
import pytest
import sklearn.ensemble  # noqa: F401 - it brings OpenMP
from threadpoolctl import threadpool_info, threadpool_limits

from trainer import threads


@pytest.fixture
def two():
    """Each library has two threads."""
    numpy.ones((2, 2)) @ numpy.ones((2, 2))
    with threadpool_limits(limits=2):
        yield


def numbers() -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for pool in threadpool_info():
        found.setdefault(pool["user_api"], set()).add(pool["num_threads"])
    return found


def test_blas_has_one_thread_and_the_others_keep_theirs(two):
    before = numbers()
    assert before["blas"] == {2}
    with threads.one_of_blas():
        assert numbers() == {**before, "blas": {1}}
    assert numbers() == before


def test_all_libraries_have_one_thread(two):
    before = numbers()
    with threads.one():
        assert set.union(*numbers().values()) == {1}
        with threads.one_of_blas():
            pass
        assert set.union(*numbers().values()) == {1}
    assert numbers() == before


def test_the_libraries_are_looked_for_after_an_import_only(monkeypatch):
    first = threads._found(len(sys.modules))
    assert threads._found(len(sys.modules)) is first
    monkeypatch.setitem(sys.modules, "a_new_library", ModuleType("a_new_library"))
    assert threads._found(len(sys.modules)) is not first
