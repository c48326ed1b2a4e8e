"""Several labels for each example, for every kind whose examples can have them: the target, and what of the results follows from it."""
