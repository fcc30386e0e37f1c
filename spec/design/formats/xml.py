"""XML as a tree with the spot of every element, and without what XML can be attacked with.

Expat reads it. A document type is refused where it begins: entities, internal and external, can
only be declared in one, so none of them can be expanded, and nothing is ever fetched. The text is
as long as the file, and nesting is limited.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from ..reading.source import Spot, Watch
from .draft import refusal

__all__ = ["MAX_DEPTH", "MAX_ELEMENTS", "Element", "parse_xml"]

MAX_DEPTH: Final = 40
MAX_ELEMENTS: Final = 50_000


@dataclass(slots=True)
class Element:
    """An element: its name without a prefix, its attributes (likewise), what is in it."""

    tag: str
    spot: Spot
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """The children of that name."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child of that name."""
        return next(self.all(tag), None)


def parse_xml(
    text: str, file: str, most: int = MAX_ELEMENTS, without: Collection[str] = (),
    watch: Watch = lambda: None,
) -> Element:
    """The root element of a document of at most so many elements; those with a name in ``without``
    are left out, with all that is in them. ``watch`` is called often, and may raise.

    Raises InputError, with file, line and column, for what is not XML, has a document type, is
    nested too deep, or has too many elements.
    """
    return _Builder(file, most, without, watch).build(text)


class _Builder:
    def __init__(
        self, file: str, most: int, without: Collection[str], watch: Watch
    ) -> None:
        self.file, self.most, self.without, self.watch = file, most, without, watch
        self.parser = expat.ParserCreate("utf-8")
        self.open: list[Element] = [Element("", Spot(1, 1))]
        self.texts: list[list[str]] = [[]]
        self.elements = 0
        self.outside = 0
        """Elements that are open inside of one that is left out, and that one."""
        self.data = b""

    def build(self, text: str) -> Element:
        """The root element of a text; a text that is no XML is refused, with the place."""
        parser = self.parser
        self.data = text.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
        parser.buffer_text = True
        parser.buffer_size = 2**20
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        try:
            parser.Parse(self.data, True)
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code) or "it cannot be read"
            raise refusal(self.file, Spot(error.lineno, error.offset + 1),
                          f"this is not XML: {problem}",
                          "Check the tags around this place.") from None
        return self.open[0].children[0]

    def _spot(self) -> Spot:
        return Spot(self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def _doctype(self, *_: object) -> None:
        # Expat calls this where the declaration continues; the position reported is that of its
        # beginning.
        begin = self.data.rfind(b"<!DOCTYPE", 0, self.parser.CurrentByteIndex)
        before = self.data[:begin].decode("utf-8", "replace").split("\n")
        raise refusal(self.file, Spot(len(before), len(before[-1]) + 1),
                      "the file has a document type (DTD), which can declare entities that grow "
                      "without end or read other files", "Remove `<!DOCTYPE …>` from it.")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins; one that is left out takes all that is in it along."""
        self.elements += 1
        if self.elements % 1_000 == 0:
            self.watch()
        if self.elements > self.most:
            raise refusal(self.file, self._spot(), f"the file has more than {self.most} "
                          "elements", "Check a part of it at a time.")
        if len(self.open) + self.outside > MAX_DEPTH:
            raise refusal(self.file, self._spot(), f"elements are nested more than {MAX_DEPTH} "
                          "deep", "Check the tags; a net or a graph needs fewer levels.")
        name = tag.rpartition(":")[2]
        if self.outside or name in self.without:
            self.outside += 1
            return
        plain = {name.rpartition(":")[2]: value for name, value in attributes.items()}
        found = Element(name, self._spot(), plain)
        self.open[-1].children.append(found)
        self.open.append(found)
        self.texts.append([])

    def _end(self, _: str) -> None:
        if self.outside:
            self.outside -= 1
            return
        self.open.pop().text = "".join(self.texts.pop())

    def _characters(self, text: str) -> None:
        if not self.outside:
            self.texts[-1].append(text)
