"""Kinds whose examples are answered one by one."""

from typing import ClassVar, Protocol, runtime_checkable


@runtime_checkable
class Apart(Protocol):
    """A kind whose answer to an example does not depend on the others of a prediction, so that parts of a large one are answered wherever there is
    room. Its examples travel to other processes."""

    answered_apart: ClassVar[bool]
