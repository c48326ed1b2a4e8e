"""Amounts: numbers with a currency, a percent sign or a unit, spaces or apostrophes between thousands, or parentheses for a negative number."""

import collections
import re
import unicodedata
from dataclasses import dataclass

from trainer.errors import some

RARE = 0.05  # of the cells: as many may be written in another way than the others, and are then no numbers
PERCENT = "%"
_CODES = frozenset(
    "usd eur gbp jpy cny rmb inr chf cad aud nzd sek nok dkk kr pln zł czk kč huf ft ron rub brl mxn sgd hkd twd try us$ a$ c$ r$ rs".split()
)
# Of measurements. The case counts, and a single letter needs a blank before it: 12A is a seat.
_UNITS = frozenset(
    "ng pg mg g kg t lb lbs oz nm um µm μm mm cm dm m km in ft yd mi ml mL cl dl dL l L gal s sec ms min h hr hrs hour hours d day days yr yrs year "
    "years Hz kHz MHz GHz mW W kW MW GW Wh kWh MWh mV V kV mA A Pa hPa kPa MPa bar mbar psi N kN J kJ MJ cal kcal K °C °F ° mph kmh kn kt kts "
    "m2 m² m3 m³ km2 km² ha sqft mm2 cm2 cm3 cc ppm ppb mol mmol µmol umol nmol pmol mEq U IU mM µM nM kB KB MB GB TB px dB lx lm rpm bpm mmHg "
    "µg ug".split()
)  # and one of them per another: mmol/L
_ALIKE = str.maketrans({"\u2212": "-", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'"})
_BEFORE = re.compile(r"([^\d\s.,()+\-']{1,3})\.? ?(?=[\d.,(+\-])")
_AFTER = re.compile(r"(?<=[\d.,)])( ?)([^\d\s.,()+\-'][^\s.,()+\-']{0,8})\.?$")
_GROUPS = re.compile(r"[1-9]\d{0,2}([ '])\d{3}(\1\d{3})*([.,]\d*)?")
_ERROR = re.compile(r"(?<=[\d.])\s*(±|\+/-)\s*\d[\d.,]*")  # how far a number may be off, behind it
_UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # of money: a thousand and more, or one and three decimals


@dataclass(frozen=True)
class Amount:
    """A cell without its decoration. ``bare`` is a sign, digits, points and commas, if the cell is a number at all."""

    bare: str
    unit: str = ""  # a currency or a unit as it is written, or PERCENT
    parentheses: bool = False
    grouped: bool = False  # by spaces or apostrophes
    error: bool = False  # it says how far it may be off


@dataclass(frozen=True)
class Notation:
    """How the numbers of a column are written, besides the decimal sign.

    ``why_not`` says why they cannot be read without doubt, as a sentence without its full stop.
    """

    unit: str = ""
    parentheses: bool = False
    grouped: bool = False
    error: bool = False
    why_not: str = ""

    def words(self, comma: bool) -> str:
        """What is special about the numbers, for a sentence; empty for plain numbers."""
        parts = ["percentages" if self.unit == PERCENT else f"amounts in {self.unit}"] if self.unit else []
        if self.parentheses:
            parts.append("parentheses mean negative numbers")
        if self.grouped:
            parts.append("spaces or apostrophes separate thousands")
        if comma or parts:
            parts.append("the comma is the decimal sign" if comma else "the point is the decimal sign")
        if self.error:
            parts.append("what stands behind ± is not read")
        return ", ".join(parts)


def read(cell: str) -> Amount:
    """``cell`` without currency, percent sign, parentheses, spaces between thousands, and the error behind ±. They may nest in any order: -$5, ($5),
    $(5)."""
    text, errors = _ERROR.subn("", cell.translate(_ALIKE).strip(), count=1)
    sign, unit, parentheses = "", "", False
    while text:
        if not (parentheses or sign) and text[0] == "(" and text[-1] == ")":
            text, parentheses = text[1:-1].strip(), True
        elif not (sign or parentheses) and text[0] in "+-":
            text, sign = text[1:].lstrip(), text[0]
        elif not unit and (found := _BEFORE.match(text)) and _is_unit(found[1]):
            text, unit = text[found.end() :], found[1]
        elif (
            not unit
            and (found := _AFTER.search(text))
            and (_is_unit(found[2]) or (all(u in _UNITS for u in found[2].split("/")) and (found[1] or len(found[2]) > 1)))
        ):
            text, unit = text[: found.start()], found[2]
        else:
            break
    if grouped := _GROUPS.fullmatch(text) is not None:
        text = text.replace(" ", "").replace("'", "")
    return Amount(("-" if parentheses else sign) + text, unit, parentheses, grouped, errors > 0)


def notation(cells: list[str]) -> Notation:
    """How the numbers in ``cells`` are written; all of them should be numbers when they are read."""
    found = [read(c) for c in cells]
    units = collections.Counter(a.unit for a in found)
    plain = sum(not a.unit and a.bare.strip("+-0.,") != "" for a in found)
    named = [u for u, _ in units.most_common() if u]
    unit = named[0] if named else ""
    why_not = ""
    if sum(units[u] for u in named[1:]) > RARE * len(cells):
        why_not = f"it has amounts in {some(named, 4)}, which cannot be compared"
    elif unit == PERCENT and plain > RARE * len(cells):
        why_not = "some of its numbers have a percent sign and others have none"
    elif unit and unit != PERCENT:
        parted = [a for a in found if "." in a.bare or "," in a.bare]
        if parted and all(_UNCLEAR.fullmatch(a.bare) for a in parted):
            why_not = f"{cells[found.index(parted[0])].strip()} may mean thousands, or a number with three decimals"
    return Notation(unit, any(a.parentheses for a in found), any(a.grouped for a in found), any(a.error for a in found), why_not)


def _is_unit(text: str) -> bool:
    return text == PERCENT or text.lower() in _CODES or (len(text) == 1 and unicodedata.category(text) == "Sc")
