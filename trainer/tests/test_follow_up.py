"""Whether a time and a status may be how long rows were followed, and what became of them."""

import random

import pytest

from trainer.data.columns import profiles
from trainer.data.formats.table import Table
from trainer.kinds.rows.clues import follow_up


def rows(of, count: int = 400) -> list[tuple[int, list[str]]]:
    chance = random.Random(1)
    return [(i, [str(cell) for cell in of(i, chance)]) for i in range(count)]


@pytest.mark.parametrize(
    ("names", "of", "found"),
    [
        (("time", "status"), lambda i, c: (c.randrange(900), c.choice([0, 1])), True),
        (("time", "status"), lambda i, c: (c.randrange(30), c.choice([0, 1])), True),
        (("time", "status"), lambda i, c: (c.randrange(900), int(c.random() < 0.01)), True),
        (("days", "event"), lambda i, c: (c.randrange(900), c.choice([0, 1])), True),
        (("time", "status"), lambda i, c: (c.randrange(-90, 900), c.choice([0, 1])), False),
        (("time", "status"), lambda i, c: (i * 10, c.choice([0, 1])), False),
        (("time", "status"), lambda i, c: ((t := c.randrange(30)), int(t > 25)), False),
        (("time", "status"), lambda i, c: (c.randrange(900), c.choice(["idle", "busy"])), False),
        (("days", "status"), lambda i, c: (c.randrange(900), c.choice([0, 1])), False),
        (("OS_MONTHS", "OS_STATUS"), lambda i, c: (i // 2, c.choice([0, 1])), True),
    ],
    ids=["both", "few times", "rare events", "days and event", "negative", "a logger", "a time-out", "other words", "days and status", "sure names"],
)
def test_a_time_and_a_status_are_a_follow_up_where_their_values_allow_it(names, of, found):
    table = Table("t.csv", list(names), rows(of))
    pair = follow_up.find(profiles.of([table]), [table])
    assert (pair is not None) == found
    assert pair is None or (pair.times, pair.events, pair.sure) == (names[:1], names[1:], names[0] == "OS_MONTHS")
