"""What a script has saved: whole checkpoints copied out of its reach while it runs, and given back to a later start."""
