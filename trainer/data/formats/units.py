"""Tells units of measurement from other texts: mg/L, umol m-2 s-1, deg C, [-], and the words that loggers write below them."""

import re

from trainer.data.columns import values

LONGEST = 40  # characters of a unit

_PREFIX = "(?:[fpnuµμmcdhkKMGT]|da)?"
_BASE = (
    "m|g|s|l|L|A|K|Hz|N|Pa|J|W|V|C|F|Ohm|ohm|Ω|S|mol|mole|cd|lm|lx|lux|Bq|Gy|Sv|rad|sr|bar|atm|eV|cal|Cal|Da|M|T|H|Wb|kat|bp|Ci|G|P|St|ppm|ppb|ppt"
)
_ALONE = (
    "min|h|hr|hrs|hour|hours|d|day|days|wk|week|weeks|yr|yrs|year|years|month|months|minute|minutes|sec|secs|second|seconds|msec|usec|"
    "meter|meters|metre|metres|km|feet|foot|ft|inch|inches|in|mile|miles|mi|mph|kph|kn|kt|knots|yd|acre|acres|ac|ha|gal|gallon|gallons|oz|lb|lbs|pound|pounds|"
    "ton|tons|tonne|tonnes|t|gram|grams|kilogram|kilograms|liter|liters|litre|litres|"
    "deg|degs|Deg|degree|degrees|degC|degF|degK|°|°C|°F|℃|℉|oC|celsius|Celsius|fahrenheit|Fahrenheit|kelvin|Kelvin|degrees_north|degrees_east|degrees_true|"
    "DegC|DegF|DegK|Degrees|Kilopascals|Samples|"
    "degree_C|degree_Celsius|degrees_Celsius|degree_north|degree_east|arcsec|arcmin|mas|"
    "psi|mmHg|inHg|torr|Torr|cfs|cms|gpm|mgd|psu|PSU|PSS|NTU|FNU|FTU|JTU|CFU|cfu|MPN|dB|dBZ|dBm|pH|"
    "volt|volts|Volts|amp|amps|watt|watts|Watts|count|counts|cts|px|pixel|pixels|%|‰|percent|Percent|pct|fraction|ratio|unitless|dimensionless|"
    "mag|AU|pc|kpc|Mpc|ly|erg|dyn|dyne|Å|ångström|angstrom|u|amu|rpm|cpm|bpm|USD|EUR|GBP|Smp|Avg|Tot|Std|Max|Min|Med|WVc|"
    "dmnl|adim|individuals|ind|cells|einstein|E|ug|eq|meq|ueq|vol|wt"
)
_OF = "(?:CO2|CO₂|CH4|N2O|H2O|H₂O|NH3|O2|O₃|O3|NO3|NO2|PO4|SiO2|CaCO3|C|N|P|S|O|photon|photons|PAR|dw|DW|eq)?"
_POWER = r"(?:[-+⁻]?[\d²³¹⁻]+|\^\(?-?\d+\)?|\*\*-?\d+)?"
_TERM = re.compile(rf"(?:\d+(?:\.\d+)?|(?:{_PREFIX}(?:{_BASE})|{_ALONE}|{_PREFIX}(?:g|mol|mole|eq|l){_OF}){_POWER}|10\^?-?\d+)")
_PARTS = re.compile(r"(?:[\s/·×⋅.]|(?<!\*)\*(?!\*))+|\bper\b|(?<=\w)_(?=\w)(?!north|east|true|C|Celsius)")
_DATES = re.compile(r"[yYmMdDhHsS]{2,4}(?:[-/.: T]?[yYmMdDhHsS]{2,4})+|TS|UTC|GMT|local|[Tt]imestamp|HH:MM")
_BRACKETS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_FLAGS = frozenset("M T E X P B D H G N S O F C A U I R".split())  # alone, letters that mark a missing or doubtful value
_NONE = values.MAY_BE_MISSING | frozenset(("[-]", "(-)", "1"))
_KINDS = frozenset(
    "rn text string char class category categorical factor code id name label int integer float double numeric number bool boolean flag".split()
)


def is_unit(cell: str) -> bool:
    """Whether ``cell`` is a unit beyond doubt: made of units alone, or anything short in brackets."""
    text = cell.strip()
    if not text or len(text) > LONGEST or text in _FLAGS:
        return False
    if _BRACKETS.get(text[0]) == text[-1] and len(text) > 2:
        return not _is_number(text[1:-1].strip())
    if _is_number(text):
        return False
    parts = [p for p in _PARTS.split(text) if p]
    return bool(parts) and all(_TERM.fullmatch(p) for p in parts) and any(not p[0].isdigit() for p in parts)


def may_stand_beside(cell: str) -> bool:
    """Whether ``cell`` may be in a row of units above a column without one: nothing, a dash, a kind of value, or a form of dates."""
    text = cell.strip()
    return text.lower() in _NONE or text.lower().strip("[](){}<>") in _KINDS or _DATES.fullmatch(text) is not None or is_unit(text)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
