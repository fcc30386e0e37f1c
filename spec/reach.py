"""The reach of a rule of the book: implementations that no suite tests it on directly.

A chapter's rule speaks of a mechanism, which cannot be seen from outside. It is tested all the same
where a refinement ties the mechanism to an observer, and the observer refuses every machine that
is known to break the rule: the book's variants, and mutants (``witnesses.breakers``). One that is
accepted shows that a breach can go past. At least three have to be known; a rule that fewer break,
after a search that found no other, is counted by itself. What is true of an observer's own machine
is true of every run that it accepts, unless it is no more than the observer's bookkeeping, which no
implementation can break.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from .chapters import Chapter
from .witnesses.refused import ENOUGH, Breaker, Judging, distinct

__all__ = ["Judging", "Way", "bookkeeping", "unseen", "ways"]

SAFETY = ("always", "step")


@dataclass
class Way:
    """The reach of a rule: ``texts`` in words, and how many machines that break it are refused, of
    how many. ``accepted`` is one that is not, in words, or empty. ``equivalent`` more break it in a
    way that cannot be seen from outside. ``tried`` mutants were looked at, where too few break it.
    Of an observer's own rule (``is_own``) no machine is asked."""

    texts: dict[str, None] = field(default_factory=dict)
    refused: int = 0
    of: int = 0
    accepted: str = ""
    equivalent: int = 0
    tried: int = 0
    is_own: bool = False

    @property
    def is_refused(self) -> bool:
        """True if something that breaks the rule is refused, and nothing is known that is not."""
        return bool(self.texts) and not self.accepted

    @property
    def is_tested(self) -> bool:
        """True if, moreover, enough machines are known that break it."""
        return self.is_refused and (self.is_own or self.of >= ENOUGH)


def ways(
    book: Iterable[Chapter], judging: Judging, known: Mapping[str, Collection[Breaker]],
    tried: Mapping[str, int] = MappingProxyType({}),
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
    found = {rule: Way({f"all rules of {observer.__name__}: whatever it accepts keeps this": None},
                       is_own=True)
             for rule, observer in own.items()}
    for rule, breakers in known.items():
        if rule not in found:
            found[rule] = _way(breakers, named, tried.get(rule, 0))
    return found


def _way(breakers: Collection[Breaker], named: Collection[str], tried: int) -> Way:
    counted = [breaker for breaker in breakers if not breaker.equivalent]
    told: set[str] = set()
    refused: set[tuple[str, ...]] = set()
    way = Way(of=distinct(counted), equivalent=len(breakers) - len(counted))
    way.tried = tried if way.of < ENOUGH else 0
    for breaker in counted:
        if breaker.refused in named:
            refused.add(breaker.which)
            if breaker.refused not in told:
                told.add(breaker.refused)
                way.texts[f"{breaker.refused}, which refuses {breaker}"] = None
    # A machine of the book may be seen in several ways: one that refuses it is enough.
    way.refused = distinct(each for each in counted if each.which in refused)
    way.accepted = next((str(each) for each in counted if each.which not in refused), "")
    return way


def unseen(book: Iterable[Chapter]) -> dict[str, str]:
    """For each rule that nothing outside can show, why, as the chapters say it."""
    return {rule: why for chapter in book for rule, why in chapter.unseen.items()}


def bookkeeping(book: Iterable[Chapter]) -> dict[str, str]:
    """For each rule that is an observer's bookkeeping, why no implementation can break it."""
    return {rule: why for chapter in book for rule, why in chapter.bookkeeping.items()}
