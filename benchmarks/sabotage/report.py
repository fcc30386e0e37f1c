"""The table of what became of each sabotaged reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from .acts import SABOTAGES
from .runs import BY_HAND, FOUND, NO_MATTER, UNSEEN, Outcome

__all__ = ["SHARE", "closing", "is_good", "marked", "table_of"]

SHARE: Final = 0.8
"""Of what is found, this part is found by a rule of progress at least."""


def marked(outcome: Outcome) -> str:
    """The cell of an outcome: the rule, in bold if it is one of progress; else what was said."""
    if outcome.verdict == NO_MATTER:
        return "-"
    if outcome.verdict == UNSEEN:
        return UNSEEN
    if outcome.verdict != FOUND:
        return outcome.verdict.upper()
    return f"**{outcome.rule}**" if outcome.is_progress else outcome.rule


def table_of(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, ...]]:
    """A row for each suite, a column for each sabotage; and the lines that are by hand."""
    cells = {(each.suite, each.sabotage): marked(each) for each in outcomes}
    names = [name for name in SABOTAGES if any(name == each.sabotage for each in outcomes)]
    yield ("suite", *names)
    for suite in dict.fromkeys(each.suite for each in outcomes):
        if any((suite, name) in cells for name in names):
            yield (suite, *(cells.get((suite, name), "") for name in names))
    for suite, name in BY_HAND:
        if (suite, name) in cells:
            yield (f"{suite}: {name}", cells[suite, name], *([""] * (len(names) - 1)))


def closing(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What is to be said below the table."""
    outcomes = [each for each in outcomes if each.verdict != NO_MATTER]
    found = [each for each in outcomes if each.verdict == FOUND]
    live = sum(each.is_progress for each in found)
    if found:
        yield (f"{len(found)} of {len(outcomes)} are found, {live} of them "
               f"({100 * live / len(found):.0f} %) by a rule of progress.")
    for each in outcomes:
        if each.verdict != FOUND:
            said = f": {each.message}" if each.message else ""
            yield f"{each.suite}, {each.about}: {each.verdict}, {each.cases} cases{said}"


def is_good(outcomes: Sequence[Outcome]) -> bool:
    """Whether each that begins is found, and enough by a rule of progress."""
    asked = [each for each in outcomes if each.verdict not in (NO_MATTER, UNSEEN)]
    found = [each for each in asked if each.verdict == FOUND]
    return len(found) == len(asked) and (
        sum(each.is_progress for each in found) >= SHARE * len(found))
