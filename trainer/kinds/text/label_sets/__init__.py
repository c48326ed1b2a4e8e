"""Texts with several labels each: how such labels are written, how they are split, and how predictions of them are measured."""
