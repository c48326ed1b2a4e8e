"""How sure single pixels are: which classes are possible, and how far a number may be off."""
