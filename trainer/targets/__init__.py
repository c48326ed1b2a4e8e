"""What a model answers: the targets that several kinds of data share. A target of one kind alone is in the folder of that kind."""
