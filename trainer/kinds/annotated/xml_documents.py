"""Whole XML documents as small trees. Entities, deep nesting and large files are refused."""

from dataclasses import dataclass, field
from xml.parsers import expat

from trainer.core.input import Input
from trainer.kinds.annotated import limits

_DEPTH = 30
_TEXT = 4_000_000  # characters of one element


@dataclass(slots=True)
class Element:
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    inner: list["Element"] = field(default_factory=list)

    def all(self, name: str) -> list["Element"]:
        return [e for e in self.inner if e.name == name]

    def value(self, *path: str) -> str:
        """The text of the first element at ``path``; empty where there is none."""
        at = self
        for name in path:
            below = next((e for e in at.inner if e.name == name), None)
            if below is None:
                return ""
            at = below
        return at.text.strip()


class _Forbidden(Exception):
    pass


def read(source: Input) -> Element:
    """The root element. Raises UserError."""
    root, parser = Element(""), expat.ParserCreate()
    parser.buffer_text = True
    open_elements = [root]

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > _DEPTH:
            raise _Forbidden
        element = Element(name.rpartition(":")[2], attributes)
        open_elements[-1].inner.append(element)
        open_elements.append(element)

    def end(name: str) -> None:
        open_elements.pop()

    def characters(text: str) -> None:
        if len(open_elements[-1].text) < _TEXT:
            open_elements[-1].text += text

    def forbid(*declared) -> None:
        raise _Forbidden

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, characters
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = forbid
    try:
        parser.Parse(limits.content(source, limits.XML_BYTES), True)
    except (expat.ExpatError, _Forbidden, ValueError) as e:
        raise limits.unreadable(source.name, "it is no whole XML document, or declares entities") from e
    return root.inner[0] if root.inner else root
