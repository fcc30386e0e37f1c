"""The reach of a rule of the book: implementations that no suite tests it on directly.

A chapter's rule speaks of a mechanism, which cannot be seen from outside. It is tested all the same
where a refinement ties the mechanism to an observer, and the observer refuses every machine that
is known to break the rule: the book's variants, and mutants (``witnesses.breakers``). One that is
accepted shows that a breach can go past. What is true of an observer's own machine is true of
every run that it accepts, unless it is no more than the observer's bookkeeping, which no
implementation can break.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from .chapters import Chapter
from .witnesses.refused import Breaker, Judging

__all__ = ["Judging", "Way", "bookkeeping", "unseen", "ways"]

SAFETY = ("always", "step")


@dataclass
class Way:
    """The reach of a rule: ``texts`` in words, and how many machines that break it are refused, of
    how many. ``accepted`` is one that is not, in words, or empty. ``equivalent`` more break it in a
    way that cannot be seen from outside."""

    texts: dict[str, None] = field(default_factory=dict)
    refused: int = 0
    of: int = 0
    accepted: str = ""
    equivalent: int = 0

    @property
    def is_tested(self) -> bool:
        """True if nothing is known that breaks the rule and is accepted."""
        return bool(self.texts) and not self.accepted


def ways(
    book: Iterable[Chapter], judging: Judging, known: Mapping[str, Collection[Breaker]]
) -> dict[str, Way]:
    """For each rule that a refinement ties to an observer, how far it reaches implementations.

    An observer by which no suite judges reaches none, and a refusal by a rule that no suite names
    is as good as no refusal.
    """
    own = {rule.id: observer for chapter in book for tie in chapter.refinements
           if (observer := tie.observer) in judging for rule in observer.rules_declared
           if rule.kind in SAFETY}
    named = {f"{rule} of {observer.__name__}" for observer, rules in judging.items()
             for rule in rules}
    found = {rule: Way({f"all rules of {observer.__name__}: whatever it accepts keeps this": None})
             for rule, observer in own.items()}
    for rule, breakers in known.items():
        if rule not in found:
            found[rule] = _way(breakers, named)
    return found


def _way(breakers: Collection[Breaker], named: Collection[str]) -> Way:
    counted = [breaker for breaker in breakers if not breaker.equivalent]
    told: set[str] = set()
    refused: set[tuple[str, ...]] = set()
    way = Way(of=len({breaker.which for breaker in counted}),
              equivalent=len(breakers) - len(counted))
    for breaker in counted:
        if breaker.refused in named:
            refused.add(breaker.which)
            if breaker.refused not in told:
                told.add(breaker.refused)
                way.texts[f"{breaker.refused}, which refuses {breaker}"] = None
    # A machine of the book may be seen in several ways: one that refuses it is enough.
    way.refused = len(refused)
    way.accepted = next((str(each) for each in counted if each.which not in refused), "")
    return way


def unseen(book: Iterable[Chapter]) -> dict[str, str]:
    """For each rule that nothing outside can show, why, as the chapters say it."""
    return {rule: why for chapter in book for rule, why in chapter.unseen.items()}


def bookkeeping(book: Iterable[Chapter]) -> dict[str, str]:
    """For each rule that is an observer's bookkeeping, why no implementation can break it."""
    return {rule: why for chapter in book for rule, why in chapter.bookkeeping.items()}
