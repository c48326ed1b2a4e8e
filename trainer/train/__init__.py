"""Training: the loop, its checkpoints, and measuring. Imported in workers only, for torch costs seconds."""
