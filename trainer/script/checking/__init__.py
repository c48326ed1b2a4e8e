"""The look at the code of a script before any of it runs: syntax, Bandit, keys in the code, and imports that nobody has."""
