"""The search for better settings: which trials there are (``space``), how long each is trained (``schedule``), the loop that a worker
carries out (``run``), and whether the best trial replaces the default settings (``choice``).

A trial is an ordinary training with its own checkpoints. ADR 19 says why this is neither Ray Tune nor Optuna.
"""
