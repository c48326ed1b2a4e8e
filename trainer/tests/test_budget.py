"""The budget of a run for what it unpacks: every limit at its boundary, and the sentence of each refusal."""

from pathlib import Path

import pytest

from trainer.archive import budget
from trainer.archive.budget import LOOK_BYTES, MAX_BYTES, MAX_FILES, MAX_RATIO, RATIO_FROM_BYTES, Budget
from trainer.errors import UserError

HERE = Path("/data")
GB = 10**9


def roomy(_: Path) -> tuple[int, int]:
    return 1 << 50, 1 << 50


def refusal(call, *given) -> str:
    with pytest.raises(UserError) as refused:
        call(*given)
    return str(refused.value)


def test_as_many_files_as_allowed_are_listed_and_not_one_more():
    share = Budget(roomy).begin("a.zip", 1, "archive")
    share.list(MAX_FILES)
    assert refusal(share.list, 1) == (
        f"The archive a.zip is too large to unpack. It has 1 files, and the archives before it have {MAX_FILES}; at most {MAX_FILES} are read. "
        "Add the files to the dataset without an archive, or add fewer files."
    )


def test_an_archive_of_too_many_files_names_its_own_number():
    text = refusal(Budget(roomy).begin("a.zip", 1, "archive").list, MAX_FILES + 1)
    assert f"It has {MAX_FILES + 1} files; at most {MAX_FILES} are read." in text


@pytest.mark.parametrize(
    ("code", "what", "do"),
    [
        ("archive", "The archive a", "Add the files to the dataset without an archive, or add fewer files."),
        ("model_file", "The archive a", "Register the model instead of uploading it, or choose another model.zip."),
        ("parquet", "The Parquet file a", "Use fewer images, or add the images to the dataset as files in one folder for each label."),
        ("compressed", "The compressed file a", "Use fewer rows, or add the file to the dataset without compression."),
    ],
)
def test_each_kind_of_file_has_its_own_words(code, what, do):
    text = refusal(Budget(roomy).begin("a", 1, code).list, MAX_FILES + 1)
    assert text.startswith(f"{what} is too large to unpack. ") and text.endswith(do)


def test_bytes_are_counted_over_all_archives():
    shared = Budget(roomy)
    first = shared.begin("a.zip", MAX_BYTES, "archive")
    first.take(MAX_BYTES - 5, HERE)
    second = shared.begin("b.zip", MAX_BYTES, "archive")
    second.take(5, HERE)
    assert refusal(second.take, 1, HERE) == (
        "The archive b.zip is too large to unpack. It holds, together with the archives before it, 54 GB; at most 54 GB are read. "
        "Add the files to the dataset without an archive, or add fewer files."
    )
    assert "It holds 54 GB; at most 54 GB are read." in refusal(Budget(roomy).begin("a.zip", MAX_BYTES, "archive").take, MAX_BYTES + 1, HERE)


@pytest.mark.parametrize(
    ("packed", "size", "refused"),
    [
        pytest.param(1, RATIO_FROM_BYTES, False, id="small files may be packed as they like"),
        pytest.param(RATIO_FROM_BYTES // MAX_RATIO, RATIO_FROM_BYTES, False, id="at both limits"),
        pytest.param(RATIO_FROM_BYTES // MAX_RATIO, RATIO_FROM_BYTES + 1, True, id="one byte over both limits"),
        pytest.param(GB // MAX_RATIO, GB, False, id="two hundred times its size"),
        pytest.param(GB // MAX_RATIO, GB + 1, True, id="more than two hundred times its size"),
        pytest.param(0, RATIO_FROM_BYTES + 1, True, id="an empty archive"),
    ],
)
def test_what_expands_too_much_is_refused(packed, size, refused):
    share = Budget(roomy).begin("a.zip", packed, "archive")
    if not refused:
        share.take(size, HERE)
        return
    times = size // max(1, packed)
    assert f"It would expand to {times} times its size, which ordinary data does not." in refusal(share.take, size, HERE)


def test_many_archives_that_expand_together_are_refused():
    shared = Budget(roomy)
    for _ in range(4):
        shared.begin("a.zip", 100, "archive").take(RATIO_FROM_BYTES // 4, HERE)
    text = refusal(shared.begin("b.zip", 100, "archive").take, 1, HERE)
    assert "Together with the archives before it, it would expand to 200000 times its size" in text


@pytest.mark.parametrize(
    ("free", "whole", "more", "why"),
    [
        pytest.param(3 << 30, 1 << 40, 1 << 30, "", id="the reserve of a large disk is left"),
        pytest.param(3 << 30, 1 << 40, (1 << 30) + 1, "3.2 GB are free, of which 2.1 GB are reserved for results.", id="one byte of it is not"),
        pytest.param(2 * GB, 10 * GB, GB, "", id="a tenth of a small disk is left"),
        pytest.param(2 * GB, 10 * GB, GB + 1, "2.0 GB are free, of which 1.0 GB are reserved for results.", id="less than a tenth"),
        pytest.param(0, 0, 0, "", id="a disk that says nothing"),
    ],
)
def test_the_reserve_of_the_disk(free, whole, more, why):
    assert Budget(lambda _: (free, whole)).look(HERE, more) == why


def test_an_archive_that_claims_more_than_is_free_is_refused_at_once():
    share = Budget(lambda _: (3 * GB, 100 * GB)).begin("a.zip", GB, "archive")
    assert refusal(share.expect, 2 * GB, HERE) == (
        "The disk of the shared folder has too little free space to unpack a.zip. It holds 2.0 GB; 3.0 GB are free, of which 2.1 GB are reserved "
        "for results. Ask the administrator to free space there, then submit again."
    )


def test_the_disk_is_looked_at_every_64_megabytes():
    looks = []
    shared = Budget(lambda folder: looks.append(folder) or roomy(folder))
    share = shared.begin("a.zip", GB, "archive")
    for _ in range(8):
        share.take(LOOK_BYTES // 4, HERE)
    assert len(looks) == 2
    assert shared.bytes == 2 * LOOK_BYTES


def test_the_room_of_a_real_disk(tmp_path):
    free, whole = budget.room(tmp_path)
    assert 0 <= free <= whole and whole > 0
