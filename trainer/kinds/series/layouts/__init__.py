"""Layouts of series in tables: times or steps in columns, series side by side, or a file for each; and the tables that they become."""
