"""Columns of tables that are neither numbers nor categories, as columns that models can read: dates, texts, lists, and names with many values.

``candidates`` finds such columns, a part learns one of them from the training rows, and ``judge`` tells by held-out loss whether it is of use.
``by_loss`` tells in the same way whether rows are read as texts or as a table. What a part learns holds nothing of the targets, so it may be learnt
once for all folds.
"""
