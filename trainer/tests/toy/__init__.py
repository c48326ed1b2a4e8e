"""A kind of data that lives with the tests: the direction from which a signal comes, told from the readings of four sensors.

It proves that a kind needs no change in any other file, and it is the example of docs/development.md. MORE_KINDS=trainer.tests.toy adds it.
"""

from trainer.tests.toy.kind import Toy

KINDS = (Toy(),)
