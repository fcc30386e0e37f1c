"""The terms of an observed election, numbered anew.

Theory. A log has terms without end, and each has a number; yet all that is ever asked of a number
is whether it is at least that of the last write. So two states in which the terms are in the same
order accept the same, step by step, and one of them may stand for both. What is to come has its
place in that order, too: a new term is later than all, and one that its leader learns too late
comes right before the latest, unless there was none yet. Of a term that is earlier than the last
write, only that is left.

That ``renumbered`` is such a state is checked in every state that can be reached, for as many terms
as are enough for each order (tests/test_logs_elections.py).

Source: observed_election.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["renumbered"]


def renumbered(term: Sequence[int], terms: int, written: int) -> tuple[tuple[int, ...], int, int]:
    """The variables ``term``, ``terms`` and ``written`` of a state, of one that accepts the same:
    the smallest numbers that keep the order."""
    if terms == 0:
        return tuple(term), terms, written
    late, latest = 2 * terms - 1, 2 * terms
    open_ = [each for each in term if each >= written]
    least = min([*open_, late if late >= written else latest])
    first = int(len(open_) < len(term))     # before it are the terms that are over
    ranks = {each: rank for rank, each in enumerate(sorted(
        {least, *open_} - {late, latest}), start=first)}
    now = 1 + (first + len(ranks)) // 2
    ranks |= {late: 2 * now - 1, latest: 2 * now}
    return tuple([ranks[each] if each >= written else 0 for each in term]), now, ranks[least]
