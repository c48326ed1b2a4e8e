"""Whether new rows are like those that a model learnt from: traits of both are compared, and what differs is said and marked."""
