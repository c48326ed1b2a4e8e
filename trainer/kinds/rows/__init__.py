"""Reading that four kinds share: texts, images, tables and language models are found in the rows of tables, in folders and in documents.

They look together, because the same column can be a text, a label or a number: what the others make of it decides. A kind of another form of
file has no part in this; it makes a claim of its own (see trainer/data/claims.py).
"""
