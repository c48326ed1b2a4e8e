"""Files as tables of text cells: delimited text, JSON and Parquet, in any encoding, within the memory of the machine.

``tables.read`` reads one file in the format of its name. What the cells mean is decided in ``trainer.data.columns``.
"""
