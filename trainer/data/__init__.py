"""The files of a dataset, and which kind of data they are. Runs in the driver, without torch.

The package decides which files are data, asks every kind for its claim, and has what kinds share: formats of tables, profiles of columns, splits,
and checks before the training. An ambiguous dataset is refused with a question, never guessed. Memory is a small multiple of the size of the
tables; images stay on disk.
"""
