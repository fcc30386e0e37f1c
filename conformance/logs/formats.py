"""Logs in the formats of other tools, as rows with columns that are named as an event's fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ...spec.notation.errors import InputError
from .mapping import Mapped, Operation
from . import jepsen, jetstream, opentelemetry, redis

__all__ = ["KINDS", "Format"]


@dataclass(frozen=True)
class Format:
    """A format: its ``rows`` with their lines, and how they are ``mapped`` unless a mapping file
    says otherwise: its operations may be those of several suites. ``not_shown`` has the rules that
    no such log can show broken, each with the reason. Where one file does not say what a row is,
    all are ``surveyed`` first."""

    name: str
    rows: Callable[[Path], Iterator[tuple[int, Mapping[str, Any]]]]
    mapped: Mapped
    meanings: Mapping[str, Sequence[str]]
    not_shown: Mapping[str, str] = field(default_factory=dict)
    surveyed: Callable[[Format, Sequence[Path]], Format] = lambda form, paths: form

    def mapped_to(self, operations: Sequence[str]) -> Mapped:
        """The mapping to the operations of a suite. Raises ``InputError`` if there is none."""
        known = {name: Operation(meaning) for name, meanings in self.meanings.items()
                 for meaning in meanings if meaning in (*operations, "ignore")}
        if all(each.is_ == "ignore" for each in known.values()):
            raise InputError(
                f"the operations of the format {self.name} are not known to this suite", "",
                f"It has {', '.join(operations)}. Map {', '.join(self.meanings)} to them by --map.")
        return replace(self.mapped, operations=known)


def _with_spans(form: Format, paths: Sequence[Path]) -> Format:
    survey = opentelemetry.Survey(paths)
    return replace(form, rows=survey.rows, not_shown=survey.not_shown,
                   mapped=replace(form.mapped, settings=survey.settings))


KINDS: Final[Mapping[str, Format]] = {each.name: each for each in (
    Format("jepsen", jepsen.rows, Mapped(failed="nothing"), jepsen.MEANINGS),
    Format("opentelemetry", lambda path: opentelemetry.Survey([path]).rows(path),
           Mapped(order="time", tolerance=opentelemetry.TOLERANCE), opentelemetry.MEANINGS,
           surveyed=_with_spans),
    # Neither promises where a message stands that comes back: the law ANY_ORDER of brokers.
    Format("redis", redis.rows, Mapped(settings={"law": 4}), redis.MEANINGS,
           redis.NOT_SHOWN),
    Format("jetstream", jetstream.rows, Mapped(settings={"law": 4}), jetstream.MEANINGS,
           jetstream.NOT_SHOWN),
)}
