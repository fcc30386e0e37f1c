"""Transitions that are never possible again, because each lacks what only such transitions give.

Say that some transitions are not possible, and that each of them lacks something that no other
transition gives than those. Whatever the others do, the first of them that became possible would
need that before: so none ever does. The most transitions of which this is so are what is left of
all that are not possible, once those are taken away, again and again, that lack nothing of the
kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .system import Transition

__all__ = ["never_again"]

Lack = tuple[str, bool]
"""A counter, and whether it is too small (else too large)."""


def never_again(transitions: Sequence[Transition], state: Mapping[str, int]) -> set[int]:
    """The identities of those of these transitions that are never possible again."""
    lacks = {id(transition): _lacks(transition, state) for transition in transitions}
    asking: dict[Lack, list[Transition]] = {}
    for transition in transitions:
        for lack in lacks[id(transition)]:
            asking.setdefault(lack, []).append(transition)
    open_ = {here: len(found) for here, found in lacks.items()}
    left = {*lacks}
    gone = [transition for transition in transitions if not lacks[id(transition)]]
    while gone:
        transition = gone.pop()
        left.discard(id(transition))
        for counter, by in transition.change.items():
            for other in asking.pop((counter, by > 0), ()):
                open_[id(other)] -= 1
                if not open_[id(other)]:
                    gone.append(other)
    return left


def _lacks(transition: Transition, state: Mapping[str, int]) -> list[Lack]:
    """The counters that are too small or too large for a transition."""
    found = [(name, True) for name, least in transition.need.items() if state[name] < least]
    return found + [(name, False) for name, most in transition.room.items() if state[name] > most]
