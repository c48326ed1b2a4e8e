"""Installed models of series, which forecast as they are. They are computed with numpy, so neither trainings nor predictions need torch."""
