"""Parts of language models that need no torch: streams of tokens, vocabularies, and a table of n-grams to compare with."""
