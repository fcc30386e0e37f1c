"""NET: a place/transition net, the one definition of its marking and of its firing rule.

A *place* holds a number of tokens, a whole number that nothing limits. A *transition* takes
a number of tokens from each of its input places and gives a number to each of its output places.
It is *enabled* in a marking iff each input place holds at least what the transition takes; to
*fire* it takes all and gives all in one step. A marking is *dead* iff no transition is enabled.

Every engine of this folder comes from the three methods that say so (``enabled``, ``fire``,
``dead``), or from ``takes`` and ``gives``, the tables they read: matrices, reductions and solvers
propose, and a run of ``replay`` or a certificate that ``certificates`` checks disposes.

The rule is that of Petri 1962 with weights (Murata 1989, section II.A).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Arcs", "Marking", "Misfired", "Net", "net_of"]

Arcs = tuple[tuple[int, int], ...]
"""Places and weights of at least 1, by place; each place once."""

Marking = list[int]
"""The tokens in each place."""


class Misfired(Exception):
    """A step of a run was not enabled: its number in the run, from 0, and its transition."""

    def __init__(self, step: int, transition: int) -> None:
        super().__init__(step, transition)
        self.step = step
        self.transition = transition


@dataclass(frozen=True)
class Net:
    """A net: names of its places and transitions, its first marking, and arcs by transition."""

    name: str
    places: tuple[str, ...]
    transitions: tuple[str, ...]
    initial: tuple[int, ...]
    takes: tuple[Arcs, ...]
    gives: tuple[Arcs, ...]

    def enabled(self, marking: Sequence[int], transition: int) -> bool:
        """True if each input place holds what the transition takes."""
        return all(marking[place] >= weight for place, weight in self.takes[transition])

    def fire(self, marking: Marking, transition: int) -> None:
        """Move the tokens of an enabled transition, in place."""
        for place, weight in self.takes[transition]:
            marking[place] -= weight
        for place, weight in self.gives[transition]:
            marking[place] += weight

    def dead(self, marking: Sequence[int]) -> bool:
        """True if no transition is enabled."""
        return not any(self.enabled(marking, each) for each in range(len(self.transitions)))

    def replay(self, run: Iterable[int]) -> Marking:
        """The marking after a run from the first one.

        Raises Misfired at a step that is not enabled.
        """
        marking = list(self.initial)
        for step, transition in enumerate(run):
            if not self.enabled(marking, transition):
                raise Misfired(step, transition)
            self.fire(marking, transition)
        return marking

    @cached_property
    def changes(self) -> tuple[Arcs, ...]:
        """By transition, the tokens that it adds to each place (negative: removes)."""
        found = []
        for takes, gives in zip(self.takes, self.gives, strict=True):
            change = dict(gives)
            for place, weight in takes:
                change[place] = change.get(place, 0) - weight
            found.append(tuple(sorted((p, n) for p, n in change.items() if n)))
        return tuple(found)

    @cached_property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """The transitions that take from each place."""
        return _by_place(len(self.places), self.takes)

    @cached_property
    def producers(self) -> tuple[tuple[int, ...], ...]:
        """The transitions that give to each place."""
        return _by_place(len(self.places), self.gives)


def _by_place(places: int, arcs: Sequence[Arcs]) -> tuple[tuple[int, ...], ...]:
    found: list[list[int]] = [[] for _ in range(places)]
    for transition, each in enumerate(arcs):
        for place, _ in each:
            found[place].append(transition)
    return tuple(map(tuple, found))


def net_of(
    name: str, tokens: dict[str, int], transitions: dict[str, tuple[dict[str, int], dict[str, int]]]
) -> Net:
    """The net of tokens by place, and of what each transition takes and gives, by place."""
    index = {place: at for at, place in enumerate(tokens)}

    def arcs(side: int) -> tuple[Arcs, ...]:
        return tuple(tuple(sorted((index[p], n) for p, n in each[side].items() if n))
                     for each in transitions.values())

    return Net(name, tuple(tokens), tuple(transitions), tuple(tokens.values()), arcs(0), arcs(1))
