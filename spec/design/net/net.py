"""DESIGN: a design as a net of bounded places, the one chapter behind every flow kind.

A *place* holds a number of indistinguishable tokens: elements in a queue, permits at a
sender, free threads of a pool, a script's position. A *row* is one transition: it needs at
least so many tokens in some places, at most so many in others (that is what "there is a free slot"
means), and changes the number of tokens by fixed amounts. Rows and places come as constant
tables, so a kind of flow control or of task is never a piece of transition code: it is a
translation into rows (see ``translate``), each with a label in the words of the design's author.

A design is *deadlocked* in a state in which no row is enabled and something is left to do. Weak
fairness is assumed of a row that stands for a task's own step; a row for something that
merely may happen (a message is lost) is not fair.

This is a place/transition net (Petri 1962; Commoner 1971 for the circuits that must hold
a token) with interval guards instead of complementary places.
"""

from __future__ import annotations

from typing import Any

from ...notation import (
    MUST, SHOULD, Machine, action, always, array, const, integer, leads_to, never_stuck,
    one_of, require, table, upto,
)
from ...notation.types import each

__all__ = ["Net"]

SOURCE = "003#defining: bounded and live"


class Net(Machine):
    """Places with tokens, and rows that move them.

    A row t is enabled iff every place of ``at_least[t]`` holds that many tokens and every
    place of ``at_most[t]`` no more than that; it then adds ``change[t]``. Each of the
    three is a tuple of (place, number) pairs. The first ``fair_rows`` rows are fair.
    """

    at_least = table(((),))
    at_most = table(((),))
    change = table(((),))
    fair_rows = const(1)
    chance_rows = const(0)

    start = table((0,))      # tokens in each place at first
    most = table((1,))       # the most that each place can hold
    limit = table((1,))      # DESIGN-2: more than this is a violation
    rest = table((0,))       # the design may end with this much in each place …
    may_end = const(0)       # … if it may end at all
    stopped = const(0)       # a token here says that the design has given up
    beat = const(0)          # DESIGN-3: the place that the watched steps flip …
    wanted = const(0)        # … which is asked for while this place holds …
    least = const(0)         # … as many as this

    marking = array(one_of(start), integer(0, each(most), init=each(start)))

    @action(fair=True, t=upto(fair_rows))
    def fire(self, t: int) -> None:
        """A task takes a step."""
        self.move(t)

    @action(t=upto(chance_rows))
    def befall(self, t: int) -> None:
        """An accident happens: the channel loses a message."""
        self.move(self.fair_rows + t)

    def move(self, row: int) -> None:
        """The one transition of the chapter."""
        for need in self.at_least[row]:
            require(self.marking[need[0]] >= need[1])
        for room in self.at_most[row]:
            require(self.marking[room[0]] <= room[1])
        for effect in self.change[row]:
            self.marking[effect[0]] += effect[1]

    @never_stuck("DESIGN-1", MUST,
                 "A design never deadlocks: in every reachable state some step is possible, "
                 "unless its work is done or it has failed as it declares.",
                 source=SOURCE)
    def may_rest(self) -> bool:
        """Everything is done, or the design has failed as it says it does."""
        return self.marking[self.stopped] > 0 or (
            self.may_end > 0
            and all(self.marking[p] <= self.rest[p] for p in range(len(self.start)))
        )

    @always("DESIGN-2", MUST, "No place ever holds more than its limit.", source=SOURCE)
    def within_limits(self) -> bool:
        """The limit of an unbounded link is one that only a growing link can pass."""
        return all(self.marking[p] <= self.limit[p] for p in range(len(self.start)))

    @leads_to("DESIGN-3", SHOULD,
              "Whenever a step of the watched task is asked for, eventually it takes one, none "
              "is asked for any longer, or the design has ended.",
              source="libraries#akka-cycles: the unfair cycle", phase=upto(2))
    def goes_on(self, phase: int) -> tuple[bool, bool]:
        """Each of its steps is followed by another, unless everything is done."""
        return (
            self.marking[self.beat] == phase and self.marking[self.wanted] >= self.least,
            self.marking[self.beat] != phase or self.marking[self.wanted] < self.least
            or self.may_rest(),
        )


def __getattr__(name: str) -> Any:
    """The table EXPECTATIONS, of designs that ``known`` translates: a check of one design
    needs none of them."""
    if name != "EXPECTATIONS":
        raise AttributeError(name)
    from .known import expectations
    return expectations(Net)


UNSEEN = {
    "DESIGN-1":
        "It is about designs, which are files and not implementations: checkvalve check decides "
        "it.",
    "DESIGN-2":
        "It is about the places of a design, which is a file and not an implementation: "
        "checkvalve check decides it.",
    "DESIGN-3":
        "It is about a task of a design, which is a file: checkvalve check says whether it may "
        "starve.",
}
