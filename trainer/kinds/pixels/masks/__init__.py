"""What is known of masks beside their own pixels: the names of classes, and whether all masks of a dataset say them in one way."""
