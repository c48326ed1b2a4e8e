"""Tells chains of letters that a model can read, such as DNA, proteins and molecules, from names of rows, which say nothing in general."""

import re

from trainer.data.columns import values

MOST_LETTERS = 3  # of a word
LONG = 20  # letters on average, from which capital letters alone are a chain
_BASES = re.compile(r"[ACGTUN-]{6,}|[acgtun-]{6,}")
_RESIDUES = re.compile(r"[A-Z*-]{6,}")
_ATOM = r"Cl|Br|[BCNOPSFIbcnops]|\[[^\[\]\s]{1,20}\]"
_MOLECULE = re.compile(rf"(?:{_ATOM}|[-=#$:/\\.()]|%\d\d|\d)+")  # SMILES
_ATOMS = re.compile(_ATOM)
_BONDS = frozenset("=#()[]")
_ATOMS_OF_MANY = 3.0  # on average
_LOOK = 100  # cells


def share(cells: list[str]) -> float:
    """The share of ``cells`` that are sequences of bases or amino acids, or molecules as SMILES; 0 where they may be names as well."""
    if not cells:
        return 0.0
    bases = sum(_BASES.fullmatch(c) is not None for c in cells)
    residues = sum(_RESIDUES.fullmatch(c) is not None for c in cells) if sum(map(len, cells)) >= LONG * len(cells) else 0
    return max(bases, residues, _molecules(cells)) / len(cells)


def step(cells: list[str]) -> int:
    """How many letters of ``cells`` make a word: three of bases, two of amino acids; 0 for all others, whose words are told apart by signs."""
    if not cells or any(not c.isalpha() for c in cells[:_LOOK]):
        return 0
    least = values.MOSTLY * len(cells)
    if sum(_BASES.fullmatch(c) is not None for c in cells) >= least:
        return MOST_LETTERS
    return 2 if share(cells) >= values.MOSTLY and _molecules(cells) < least else 0


def words(cell: str, letters: int) -> str:
    """``cell`` with a blank between its words: each ``letters`` neighbours, which overlap. Unchanged for 0."""
    return " ".join(cell[i : i + letters] for i in range(len(cell) - letters + 1)) if letters else cell


def _molecules(cells: list[str]) -> int:
    """How many are molecules, with fewer digits than atoms in each; none unless they have many atoms, and some of them bonds or branches."""
    count = atoms = bonds = 0
    for cell in cells:
        of_cell = len(_ATOMS.findall(cell)) if _MOLECULE.fullmatch(cell) else 0
        if of_cell > sum(c.isdigit() for c in cell):
            count, atoms, bonds = count + 1, atoms + of_cell, bonds + bool(_BONDS.intersection(cell))
    return count if atoms >= _ATOMS_OF_MANY * len(cells) and bonds * 10 >= len(cells) else 0
