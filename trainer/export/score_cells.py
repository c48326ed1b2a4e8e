"""Precision, recall and F1 as cells of a table in the report."""

from trainer.core.blocks import COUNT, Cell, Column


def columns(what: str, counted: str) -> list[Column]:
    """The heads of a table of ``what`` whose ``counted`` are counted."""
    return [Column(what), Column("Precision"), Column("Recall"), Column("F1"), Column(counted, COUNT)]


def row(name: str, scores: dict) -> list[Cell]:
    """One row: ``scores`` are those of trainer.measure.precision_recall."""
    return [Cell(name), *(Cell(value=s["value"], low=s.get("low"), high=s.get("high")) for s in _three(scores)), Cell(value=scores["true"])]


def _three(scores: dict) -> list[dict]:
    return [scores[name] for name in ("precision", "recall", "f1")]
