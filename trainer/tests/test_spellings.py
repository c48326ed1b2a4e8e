"""Labels that are spellings of one class."""

import pytest

from trainer.data.columns import spellings


@pytest.mark.parametrize(
    ("cells", "joined"),
    [
        (["TRUE", "true", "False"], {"true": "TRUE"}),
        (["TRUE", "TRUE", "yes", "1", "no", "no", "0"], {"yes": "TRUE", "1": "TRUE", "0": "no"}),
        (["Y", "yes", "yes", "N", "N"], {"Y": "yes"}),
        (["Oak", "Oak", "oak", "OAK", "Ash"], {"oak": "Oak", "OAK": "Oak"}),
        (["ice wedge", "Ice Wedge", "Ice  wedge", "lake"], {"Ice Wedge": "Ice  wedge", "ice wedge": "Ice  wedge"}),
        (["AA", "Aa", "aa"], {}),
        (["AABB", "AaBb", "aabb"], {}),
        (["CO", "Co", "Ni"], {}),
        (["Polish", "polish"], {}),
        (["yes", "no"], {}),
        (["0", "1", "y"], {}),
        (["f", "t", "n", "0"], {}),
        (["1", "2", "inf"], {"inf": ""}),
        ([f"{'Species' if i % 2 else 'species'} of plot {i // 2}x" for i in range(400)], {}),
    ],
)
def test_spellings_of_one_class(cells, joined):
    assert spellings.of(cells) == joined
