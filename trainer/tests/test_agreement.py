"""Labels by digests: the same as a plain dictionary says, however many there are."""

import pytest
from hypothesis import given, strategies as st

from trainer.export import agreement
from trainer.export.agreement import agreeing

DIGESTS = st.sampled_from(["", *(f"{i:x}" * 16 for i in range(16)), *(f"0{i:x}" * 8 for i in range(16))])


def plain(pairs: list[tuple[str, str]]) -> tuple[dict[str, str], set[str]]:
    labels: dict[str, list[str]] = {}
    for digest, label in pairs:
        if digest and label:
            labels.setdefault(digest, []).append(label)
    several = {digest for digest, own in labels.items() if len(set(own)) > 1}
    return {digest: own[0] for digest, own in labels.items()}, several


@pytest.mark.parametrize("block", [3, 1 << 16])
@given(pairs=st.lists(st.tuples(DIGESTS, st.sampled_from(["", "a", "b"]))), most=st.integers(1, 40))
def test_the_smallest_digests_are_kept_and_the_contradicting_counted(block, pairs, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "_BLOCK", block)
        labels, contradicting = agreeing(pairs, most)
    every, several = plain(pairs)
    kept = list(every) if len(every) <= most else sorted(every)[:most]
    assert list(labels.items()) == [(digest, every[digest]) for digest in kept if digest not in several]
    assert contradicting == len(several)
