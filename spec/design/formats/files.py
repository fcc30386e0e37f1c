"""The formats that designs are read from, and how a file's own is found.

A suffix that belongs to one format decides; for all others, what the text begins with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ...notation.errors import InputError
from ...verdicts.deadline import Deadline
from ..loader import load_tree
from ..reading.language import Design
from ..reading.source import Watch, parse
from . import dot, flink, flux, graphml, kafka_streams, pnml
from .draft import Reading, legal_name
from .pnml import NET_ALONE

__all__ = ["FORMATS", "Format", "format_of", "load_any", "read_any"]


@dataclass(frozen=True)
class Format:
    """A format: what it is called, its own suffixes, how a text of it begins, and its reader."""

    name: str
    suffixes: tuple[str, ...]
    begins: re.Pattern[str]
    read: Callable[[str, str, Watch], Reading]


# Possessive throughout: a text that nearly begins so must not be tried in every way.
_XML: Final = r"(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>)*+<(?:[\w.]+:)?"
_COMMENTS: Final = r"(?>\s+|//[^\n]*\n|\#[^\n]*\n|/\*.*?\*/)*+"

FORMATS: Final = (
    Format("PNML", (".pnml",), re.compile(rf"{_XML}pnml\b", re.DOTALL), pnml.read),
    Format("GraphML", (".graphml",), re.compile(rf"{_XML}graphml\b", re.DOTALL), graphml.read),
    Format("DOT", (".dot", ".gv"), re.compile(
        rf"{_COMMENTS}(?:strict\s+)?(?:di)?graph\b[^:={{]*\{{", re.DOTALL | re.IGNORECASE),
        dot.read),
    Format("Kafka Streams", (), re.compile(r"\s*(?:Topolog(?:y|ies):?\s*\n\s*)?Sub-topology:"),
           kafka_streams.read),
    Format("Flink", (), re.compile(r'\s*\{(?=.*"nodes"\s*:\s*\[)(?!.*"checkvalve"\s*:)',
                                   re.DOTALL), flink.read),
    Format("Storm Flux", (".flux",), re.compile(
        r"(?!.*^[\"']?checkvalve[\"']?\s*:).*^(?:spouts|bolts|topologySource)\s*:",
        re.DOTALL | re.MULTILINE), flux.read),
)


_NO_DESIGNS: Final = {
    ".py": ("a program in Python", "A class in it is tested by `checkvalve conform "
            "thread:MODULE:CLASS --suite queue`, or with asyncio: for one with coroutines."),
    ".toml": ("a list for the gate", "`checkvalve gate` runs what it lists."),
}
"""Files that other commands are for, by their suffixes: what each is, and the command."""


def format_of(text: str, file: str) -> Format | None:
    """The format of a file; None for a design file of our own, or for what may be meant as one."""
    for each in FORMATS:
        if file.lower().endswith(each.suffixes):
            return each
    return next((each for each in FORMATS if each.begins.match(text)), None)


def load_any(
    text: str, file: str = "<text>", given: Mapping[str, str] | None = None,
    deadline: Deadline | None = None,
) -> list[Design]:
    """The designs that a text stands for, in whatever format it is.

    ``given`` has values of parameters (see ``loader``). Raises InputError, with file, line and
    column, for what is no design, and for what its format says that a design cannot express; and
    Spent, where it is not read by the deadline.
    """
    watch = _looking(file, deadline)
    reading = _read(text, file, watch)
    if reading.net is None:
        return load_tree(reading.root, file, given, reading.assumed, watch)
    assumed, net = (*reading.assumed, reading.no_design), reading.net
    if not reading.no_design:
        try:
            return [replace(design, net=net)
                    for design in load_tree(reading.root, file, given, reading.assumed, watch)]
        except InputError as no_design:
            if given:
                raise
            # Its tokens or weights are beyond what a link may have.
            assumed = (*reading.assumed, f"{NET_ALONE}: {no_design.what}")
    return [Design(legal_name(net.name), "A place/transition net.", {}, {}, {}, file=file,
                   assumed=assumed, net=net)]


def read_any(text: str, file: str = "<text>", deadline: Deadline | None = None) -> Reading:
    """The tree that a text stands for, in whatever format it is; raises as ``load_any``, and for a
    Petri net that is too large for tasks and links."""
    reading = _read(text, file, _looking(file, deadline))
    if reading.no_design:
        raise InputError(reading.no_design, file, "Use `checkvalve check`, which needs no design.")
    return reading


def _looking(file: str, deadline: Deadline | None) -> Watch:
    return (deadline or Deadline()).watch(f"reading {file}")


def _read(text: str, file: str, watch: Watch = lambda: None) -> Reading:
    text = text.removeprefix("\ufeff")
    own = format_of(text, file)
    for suffix, (what, next_step) in _NO_DESIGNS.items():
        if file.lower().endswith(suffix):
            raise InputError(f"this is {what}, and no design", file, next_step)
    if own is None:
        return Reading(parse(text, file, watch), ())
    try:
        return own.read(text, file, watch)
    except RecursionError:
        raise InputError(f"this {own.name} file is nested too deep", file,
                         "Check the brackets.") from None
