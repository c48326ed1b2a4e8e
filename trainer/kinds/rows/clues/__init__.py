"""What the other files and columns of a dataset say about which column is the label, and which columns say the same as it."""
