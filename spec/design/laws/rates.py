"""Proofs of a law of one link between two fixed rates, for all rates.

u elements are written and w are read at once; g is the greatest common divisor of u and w. All that
is asked of the solver is linear, once three facts of arithmetic are used:

- the number of elements differs from that at the start by a multiple of g, so what is left of it
  when it is divided by g, r, never changes. Less r it is a multiple of g, so it is no more than
  w - g, or w or more. With that, *where the law is true* no number of elements stops both;
- there are X writes and Y reads after which w - g + r elements would be there (Bézout: u and w are
  1 or more). *Where the law is false* these are too few to read and leave no room to write. Then no
  run writes more than X times or reads more than Y times: the first end to have done so found no
  fewer elements than that at a write, and no more at a read. So each run ends, and deadlocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...verdicts.deadline import Deadline
from ..net.counters import Counters
from ..reading.symbols import Form, form_of
from .asking import answered
from .law import Atom, Law, Term
from .regions import Region, Regions

__all__ = ["is_of_rates", "proved_by_rates"]

COMMON: Final = "|common divisor|"
REST: Final = "|rest|"

Values = Mapping[str, int]


def is_of_rates(law: Law) -> bool:
    """True if a law has a greatest common divisor in it."""
    return any(kind in ("gcd", "rest") for atom in law.atoms for (kind, _), _ in atom.factors)


def proved_by_rates(
    law: Law, regions: Regions, points: Sequence[Values], deadline: Deadline
) -> tuple[bool, bool]:
    """The sides that are proved for all values in the regions' domain: where the law is true and
    where it is false. Neither where the design is no single link between two rates.

    Raises TooManyRegions, Unanswered and OutOfTime.
    """
    regions.cover(points, deadline.watch("proving the law"))
    sides = [True, True]
    for region in regions.found:
        if not region.nets:
            continue
        edge = _Edge.of(region)
        told = None if edge is None else edge.law_text(law)
        if edge is None or told is None:
            return False, False
        for side, asked in enumerate((edge.deadlocked(told), edge.moving(told))):
            sides[side] = sides[side] and answered(
                [*regions.domain.texts, *(f"(assert {text})" for text in region.texts), *asked],
                (), deadline=deadline) is None
    return sides[0], sides[1]


@dataclass(frozen=True)
class _Edge:
    """A link: a write adds ``up`` where there are at most ``room`` elements, a read takes ``down``
    where there are ``least`` or more."""

    start: Form
    most: Form
    up: Form
    room: Form
    down: Form
    least: Form
    fixed: Values

    @staticmethod
    def of(region: Region) -> _Edge | None:
        """The link that the design of a region is; None where it is more than that."""
        if len(region.nets) != 1 or region.nets[0].may_end:
            return None
        net: Counters = region.nets[0]
        transitions = list(net.transitions)
        if len(transitions) != 2 or any(transition.fails or len(transition.change) != 1
                                        for transition in transitions):
            return None
        (number, one), = transitions[0].change.items()
        write, read = transitions if _is_plus(one) else reversed(transitions)
        if {*write.change, *read.change, *write.most, *read.least} != {number} or (
                write.least or read.most or len(net.counters) != 1):
            return None
        start, most, up, room, down, least = map(form_of, (
            net.counters[number].start, net.counters[number].most, write.change[number],
            write.most[number], read.change[number], read.least[number]))
        if None in (start, most, up, room, down, least):
            return None
        assert start and most and up and room and down and least
        return _Edge(start, most, up, room, Form().plus(down, -1), least, region.fixed)

    def law_text(self, law: Law) -> str | None:
        """The law in SMT-LIB; None where it speaks of other rates than the link's."""
        atoms = [self._atom_text(atom) for atom in law.atoms]
        return None if None in atoms else f"({law.joint} true {' '.join(map(str, atoms))})"

    def _atom_text(self, atom: Atom) -> str | None:
        parts = []
        for term, factor in atom.factors:
            told = self._term_text(term)
            if told is None:
                return None
            parts.append(f"(* {Form(constant=factor).text} {told})")
        return f"(>= (+ 0 {' '.join(parts)}) {Form(constant=atom.least).text})"

    def _term_text(self, term: Term) -> str | None:
        kind, names = term
        if kind == "one":
            return f"|{names[0]}|"
        one, other, *start = [Form.of({name: 1}).settled(self.fixed) for name in names]
        if kind == "product" or {one, other} != {
                self.up.settled(self.fixed), self.down.settled(self.fixed)}:
            return None
        if kind == "gcd":
            return COMMON
        return REST if start == [self.start.settled(self.fixed)] else None

    def _known(self) -> list[str]:
        return [f"(declare-const {COMMON} Int)", f"(declare-const {REST} Int)",
                f"(assert (and (<= 1 {COMMON}) (<= {COMMON} {self.up.text})"
                f" (<= {COMMON} {self.down.text})))",
                f"(assert (and (<= 0 {REST}) (< {REST} {COMMON}) (<= {REST} {self.start.text})))"]

    def deadlocked(self, law: str) -> list[str]:
        """The condition that the law is true, and some number of elements stops both ends."""
        here = f"(+ |multiple| {REST})"
        return [*self._known(), "(declare-const |multiple| Int)", f"(assert {law})",
                f"(assert (or (<= |multiple| (- {self.down.text} {COMMON}))"
                f" (>= |multiple| {self.down.text})))",
                f"(assert (and (>= {here} 0) (<= {here} {self.most.text})"
                f" (> {here} {self.room.text}) (< {here} {self.least.text})))"]

    def moving(self, law: str) -> list[str]:
        """The condition that the law is false, and w - g + r elements do not stop both ends."""
        here = f"(+ (- {self.down.text} {COMMON}) {REST})"
        return [*self._known(), f"(assert (not {law}))",
                f"(assert (or (<= {here} {self.room.text}) (>= {here} {self.least.text})))"]


def _is_plus(by: object) -> bool:
    form = form_of(by)
    return form is not None and all(each >= 0 for _, each in (*form.factors, ("", form.constant)))
