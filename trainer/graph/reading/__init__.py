"""From the files of a dataset to a graph. Runs in the driver, without torch."""
